//! From a draft to a schedule, and what is to be said if it never fires.

use std::sync::Arc;

use super::kind::Kind;
use super::wall_clock::Ask;
use super::working_days::WorkingDays;
use super::{Calendar, Facts, KindDraft, Schedule, ScheduleDraft, time};
use crate::Millis;
use crate::job::FieldError;

const MAX_FIRES: u32 = 1_000_000_000;
const MAX_SPREAD_SECONDS: u32 = 86_400;
/// The most calendars of one schedule.
const MAX_CALENDARS: usize = 5;

impl Schedule {
    /// Checks a draft. What an offset exceeds of the draft's spread turns round, so that a schedule whose spread was
    /// made smaller still has one.
    ///
    /// # Errors
    /// Names the member (`schedule.expression`, `schedule.timezone`, `schedule.seconds` …) and says what would be right.
    pub fn parse(draft: &ScheduleDraft, facts: &Facts<'_>) -> Result<Self, FieldError> {
        let kind = Kind::parse(&draft.kind, facts.anchor_at)?;
        let mut draft = draft.clone();
        kind.tidy(&mut draft.kind);
        check_limits(&draft)?;
        let offset = facts.spread_offset_seconds.checked_rem(draft.spread_seconds);
        Ok(Self {
            kind,
            days: working_days(&mut draft, facts.calendars)?,
            offset_ms: i64::from(offset.unwrap_or_default()) * 1_000,
            draft,
            anchor_at: facts.anchor_at,
        })
    }

    /// Why a schedule has no instant after `now` although it is none of those that wait for somebody; `None`: it has
    /// one. The error names the member that is to blame.
    pub fn never_fires(&self, now: Millis) -> Option<FieldError> {
        if matches!(self.kind, Kind::None) || self.first_after(now).is_some() {
            return None;
        }
        let (field, message) = match (&self.draft.kind, self.draft.end_at) {
            (_, Some(end_at)) if end_at <= now => {
                let end = time::text(end_at);
                ("end_at", format!("{end} is over; the job would never run"))
            }
            (KindDraft::Once { at }, _) if *at <= now => {
                let at = time::text(*at);
                ("at", format!("{at} is over; the job would never run"))
            }
            (KindDraft::Cron(cron) | KindDraft::UnixCron(cron), _)
                if self.kind.after(Ask::Next, None, now).is_none() =>
            {
                let problem = "never fires in the next 100 years; see its day, month and year";
                ("expression", format!("`{}` {problem}", cron.expression))
            }
            (_, None) => ("calendars", "they leave no day on which it fires in the next 100 years".to_owned()),
            (_, Some(end_at)) => {
                let end = time::text(end_at);
                ("end_at", format!("nothing fires before {end}"))
            }
        };
        Some(FieldError::new(format!("schedule.{field}"), message))
    }
}

fn check_limits(draft: &ScheduleDraft) -> Result<(), FieldError> {
    let wrong = |field: &str, message: String| Err(FieldError::new(field, message));
    if let (Some(start_at), Some(end_at)) = (draft.start_at, draft.end_at)
        && end_at < start_at
    {
        let message = format!("lies before schedule.start_at, {}", time::text(start_at));
        return wrong("schedule.end_at", message);
    }
    if let Some(fires) = draft.max_fires
        && !(1..=MAX_FIRES).contains(&fires)
    {
        let message = format!("{fires} is not allowed; 1 to {MAX_FIRES}");
        return wrong("schedule.max_fires", message);
    }
    let spread = draft.spread_seconds;
    if spread != 0 && !(2..=MAX_SPREAD_SECONDS).contains(&spread) {
        let message = format!("{spread} is not allowed; 2 to {MAX_SPREAD_SECONDS} seconds (0: no spread)");
        return wrong("schedule.spread_seconds", message);
    }
    Ok(())
}

/// The calendars that a draft names, each once.
fn working_days(draft: &mut ScheduleDraft, calendars: &[Arc<Calendar>]) -> Result<Option<WorkingDays>, FieldError> {
    let wrong = |message| Err(FieldError::new("schedule.calendars", message));
    let mut found: Vec<Arc<Calendar>> = Vec::new();
    for name in draft.calendars.iter().map(|name| name.trim()) {
        match calendars.iter().find(|calendar| calendar.name == name) {
            None => return wrong(format!("there is no calendar `{name:.64}`")),
            Some(calendar) if found.iter().all(|other| other.name != name) => {
                found.push(Arc::clone(calendar));
            }
            Some(_) => {}
        }
    }
    if found.len() > MAX_CALENDARS {
        let count = found.len();
        return wrong(format!("has {count} of them; at most {MAX_CALENDARS} are allowed"));
    }
    draft.calendars = found.iter().map(|calendar| calendar.name.clone()).collect();
    Ok((!found.is_empty()).then(|| WorkingDays::new(found, draft.excluded)))
}

#[cfg(test)]
mod tests;
