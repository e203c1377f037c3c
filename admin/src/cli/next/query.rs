//! One question to the planner, and its answer in the zone's own time.

use carillon_scheduler::{ClockChanges, CronDraft, KindDraft, Millis, Schedule, ScheduleContext, Zone};
use chrono::{DateTime, Utc};

/// An expression with all that it takes to answer it.
#[derive(Clone, Copy, Debug)]
pub struct NextQuery<'a> {
    pub expression: &'a str,
    /// Five fields instead of six or seven.
    pub is_unix: bool,
    pub zone: &'a str,
    pub count: usize,
    pub clock_changes: ClockChanges,
}

impl NextQuery<'_> {
    /// As many instants after `from` as were asked for, `-` for each that does not exist.
    ///
    /// # Errors
    /// What is wrong with the expression or the zone, for people. An expression that never fires is not refused.
    pub fn instants(&self, from: Millis) -> Result<Vec<String>, String> {
        let schedule = Schedule::parse(&self.draft().into(), &ScheduleContext::from_anchor(from))
            .map_err(|error| error.message)?;
        let zone: Zone = self.zone.trim().parse().unwrap_or(Zone::UTC);
        let mut texts: Vec<String> =
            schedule.following(from, self.count).into_iter().map(|at| format_local(at, zone)).collect();
        texts.resize(self.count, "-".to_owned());
        Ok(texts)
    }

    fn draft(&self) -> KindDraft {
        let cron = CronDraft {
            expression: self.expression.to_owned(),
            timezone: self.zone.to_owned(),
            clock_changes: self.clock_changes,
        };
        match self.is_unix {
            true => KindDraft::UnixCron(cron),
            false => KindDraft::Cron(cron),
        }
    }
}

/// `2025-03-09T03:15:00-04:00`; UTC as `+00:00`.
fn format_local(at: Millis, zone: Zone) -> String {
    let local = |time: DateTime<Utc>| time.with_timezone(&zone).format("%Y-%m-%dT%H:%M:%S%:z").to_string();
    DateTime::from_timestamp_millis(at).map_or_else(|| "-".to_owned(), local)
}
