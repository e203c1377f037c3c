//! What some runs add to the summaries.

use std::collections::BTreeMap;

use carillon_scheduler::{Millis, RunState};

use crate::db::sql::rows::Code;
use crate::report::buckets::DayLine;
use crate::report::counts::Counts;

const HOUR: Millis = 3_600_000;

row_struct! {
    /// A run as the summaries see it.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct CountedRun {
        pub id: i64,
        pub job_id: i64,
        pub app_id: i64,
        pub state: RunState as Code,
        pub scheduled_at: Millis,
        pub due_at: Millis,
        pub sent_at: Option<Millis>,
        pub finished_at: Option<Millis>,
    }
}

impl CountedRun {
    fn duration(&self) -> Option<Millis> {
        let ran = matches!(self.state, RunState::Succeeded | RunState::Failed | RunState::Killed);
        Some(self.finished_at? - self.sent_at?).filter(|_| ran)
    }

    fn lateness(&self) -> Option<Millis> {
        Some(self.sent_at? - self.due_at)
    }
}

/// By day and job (or `-app`), and by hour and app.
#[derive(Default)]
pub(crate) struct Changes {
    pub days: BTreeMap<i32, BTreeMap<i64, DayLine>>,
    pub hours: BTreeMap<i32, BTreeMap<i64, Counts>>,
}

impl Changes {
    /// Counts a run that has ended, or whose outcome is not known, on this day of the reports. `was_doubtful`: it was counted as such
    /// before.
    pub fn count(&mut self, run: &CountedRun, day: i32, was_doubtful: bool) {
        let hour = i32::try_from(run.scheduled_at.div_euclid(HOUR)).unwrap_or(i32::MAX);
        let mut counts = Counts::default();
        if let Some(count) = counts.of(run.state) {
            *count += 1;
        }
        counts.doubtful -= i64::from(was_doubtful);
        let lines = self.days.entry(day).or_default();
        for key in [run.job_id, -run.app_id] {
            let line = lines.entry(key).or_default();
            line.app_id = run.app_id;
            line.counts.add(&counts);
            // When it became doubtful it had been sent, and its lateness was counted.
            if let Some(late) = run.lateness().filter(|_| !was_doubtful) {
                line.times.lateness.add(late);
            }
            // Of one that was doubtful only the time of the report is known, or of a person's word.
            if let Some(took) = run.duration().filter(|_| !was_doubtful) {
                line.times.durations.add(took);
            }
        }
        self.hours.entry(hour).or_default().entry(run.app_id).or_default().add(&counts);
    }
}
