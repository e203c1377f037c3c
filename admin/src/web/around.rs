//! What the check of a job needs to know of the rest: the calendars that it names, and where its spread fits best.

use carillon_scheduler::{JobDraft, Millis};

use crate::store::{self, App, Calendars, Job, Surroundings};
use crate::web::state::State;
use carillon_inspect::forecast::{LoadBySecond, SpreadChoice};

/// Of one draft, or of all drafts of a request.
pub struct Around {
    calendars: Calendars,
    /// Only where an offset has to be chosen.
    loads: Option<LoadBySecond>,
}

impl Around {
    /// Looks up what these drafts need. `before`: the job that they are to change.
    ///
    /// # Errors
    /// The database could not be asked.
    pub async fn of(state: &State, drafts: &[JobDraft], before: Option<&Job>) -> store::Result<Self> {
        let named = drafts.iter().flat_map(|draft| &draft.schedule.calendars);
        let mut names: Vec<String> = named.cloned().collect();
        names.sort_unstable();
        names.dedup();
        let calendars = state.store.calendars_named(&names).await?;
        let loads = match drafts.iter().any(|draft| is_open(draft, before)) {
            true => Some(state.engine.forecaster.loads(before.map(|job| job.id)).await?),
            false => None,
        };
        Ok(Self { calendars, loads })
    }

    /// The same for a look at one draft while it is typed: loads may be a little old.
    ///
    /// # Errors
    /// The database could not be asked.
    pub async fn roughly(state: &State, draft: &JobDraft, before: Option<&Job>) -> store::Result<Self> {
        let calendars = state.store.calendars_named(&draft.schedule.calendars).await?;
        let loads = match is_open(draft, before) {
            true => Some(state.engine.forecaster.recent_loads().await?),
            false => None,
        };
        Ok(Self { calendars, loads })
    }

    /// The calendars of one draft.
    pub fn calendars(&self, draft: &JobDraft) -> Calendars {
        self.calendars.only(&draft.schedule.calendars)
    }

    /// What one draft is checked against, and how its offset was found, if it was chosen now. The next draft sees that
    /// second as taken.
    pub fn surroundings<'a>(
        &'a mut self,
        app: &'a App,
        draft: &JobDraft,
        before: Option<&'a Job>,
        now: Millis,
    ) -> (Surroundings<'a>, Option<SpreadChoice>) {
        let calendars = self.calendars(draft);
        let chosen = match &mut self.loads {
            Some(loads) if is_open(draft, before) => Some(loads.choose(draft, &calendars, now)),
            _ => None,
        };
        let kept = before.filter(|_| draft.schedule.spread_seconds > 0).map_or(0, |job| job.spread_offset);
        let spread_offset = chosen.map_or(kept, |chosen| chosen.offset_seconds.cast_signed());
        let surroundings = Surroundings { app, before, spread_offset, calendars: &self.calendars };
        (surroundings, chosen)
    }
}

/// Whether the offset has to be chosen: it is kept as long as the job's window and its kind of schedule stay.
fn is_open(draft: &JobDraft, before: Option<&Job>) -> bool {
    let schedule = &draft.schedule;
    let kept = before.is_some_and(|job| {
        let old = &job.draft.schedule;
        old.spread_seconds == schedule.spread_seconds && old.kind() == schedule.kind()
    });
    schedule.spread_seconds > 0 && !kept
}
