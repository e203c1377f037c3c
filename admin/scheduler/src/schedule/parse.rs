//! From a draft to a schedule, and the error of a schedule that never fires.

use std::sync::Arc;

use super::draft::{KindDraft, ScheduleDraft};
use super::instants::{Schedule, ScheduleContext};
use super::kind::Kind;
use crate::calendar::{Calendar, NextRule, WorkingDays};
use crate::field_error::FieldError;
use crate::time::{Millis, format_rfc3339};

const MAX_FIRES: u32 = 1_000_000_000;
const MAX_SPREAD_SECONDS: u32 = 86_400;
/// The last second of the year 9999.
const MAX_ANCHOR: Millis = 253_402_300_799_000;
/// Maximum number of calendars of one schedule.
const MAX_CALENDARS: usize = 5;

impl Schedule {
    /// Checks a draft. The offset is taken modulo the draft's spread, so that a schedule whose spread was made smaller
    /// keeps a valid offset.
    ///
    /// # Errors
    /// Names the member (`schedule.expression`, `schedule.timezone`, `schedule.seconds` …) and says what is allowed.
    pub fn parse(draft: &ScheduleDraft, context: &ScheduleContext<'_>) -> Result<Self, FieldError> {
        let anchor_at = draft.anchor_at.unwrap_or(context.anchor_at);
        let kind = Kind::parse(&draft.kind, anchor_at)?;
        let mut draft = draft.clone();
        kind.normalise(&mut draft.kind);
        check_limits(&draft)?;
        let offset =
            draft.spread_offset_seconds.unwrap_or(context.spread_offset_seconds).checked_rem(draft.spread_seconds);
        // The schedule has them; its draft is the same for each job.
        (draft.anchor_at, draft.spread_offset_seconds) = (None, None);
        Ok(Self {
            kind,
            days: working_days(&mut draft, context.calendars)?,
            offset_ms: i64::from(offset.unwrap_or_default()) * 1_000,
            draft,
            anchor_at,
        })
    }

    /// Why a schedule that should fire has no instant after `now`; `None`: it has one, or is of kind `none`. The
    /// error names the member that is the cause.
    pub fn never_fires(&self, now: Millis) -> Option<FieldError> {
        if matches!(self.kind, Kind::None) || self.first_after(now).is_some() {
            return None;
        }
        let (field, message) = match (&self.draft.kind, self.draft.end_at) {
            (_, Some(end_at)) if end_at <= now => {
                let end = format_rfc3339(end_at);
                ("end_at", format!("{end} is over; the job would never run"))
            }
            (KindDraft::Once { at }, _) if *at <= now => {
                let at = format_rfc3339(*at);
                ("at", format!("{at} is over; the job would never run"))
            }
            (KindDraft::Cron(cron) | KindDraft::UnixCron(cron), _)
                if self.kind.after(NextRule::LikeXxlJob, None, now).is_none() =>
            {
                let problem = "never fires in the next 100 years; see its day, month and year";
                ("expression", format!("`{}` {problem}", cron.expression))
            }
            (_, None) => ("calendars", "they leave no day on which it fires in the next 100 years".to_owned()),
            (_, Some(end_at)) => {
                let end = format_rfc3339(end_at);
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
        let message = format!("is before schedule.start_at, {}", format_rfc3339(start_at));
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
    if let Some(offset) = draft.spread_offset_seconds
        && offset >= spread
    {
        let message = match spread {
            0 => "there is no spread; give schedule.spread_seconds too, or leave this out".to_owned(),
            _ => format!("{offset} is not allowed; 0 to {} seconds", spread - 1),
        };
        return wrong("schedule.spread_offset_seconds", message);
    }
    if let Some(anchor_at) = draft.anchor_at
        && (anchor_at % 1000 != 0 || !(0..=MAX_ANCHOR).contains(&anchor_at))
    {
        let message = format!("{} is not allowed; a whole second from 1970 to 9999", format_rfc3339(anchor_at));
        return wrong("schedule.anchor_at", message);
    }
    Ok(())
}

/// The calendars that a draft names. Removes duplicates from the draft.
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
