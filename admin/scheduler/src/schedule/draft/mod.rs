//! A schedule as somebody wrote it: what the API takes and the database keeps.

mod json;

pub use json::ScheduleInput;

use super::{ClockChanges, Excluded, Weekday};
use crate::Millis;

/// A schedule that has not been checked: a kind, and what every kind but `none` may say besides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduleDraft {
    /// When it fires.
    pub kind: KindDraft,
    /// No instant lies before it, UTC ms.
    pub start_at: Option<Millis>,
    /// No instant lies after it, UTC ms.
    pub end_at: Option<Millis>,
    /// So many runs, and the schedule is exhausted: 1 to 1,000,000,000.
    pub max_fires: Option<u32>,
    /// Every instant is moved by the same offset within so many seconds; 0: none, else 2 to 86,400.
    pub spread_seconds: u32,
    /// The names of the calendars that exclude days.
    pub calendars: Vec<String>,
    /// What becomes of an instant on an excluded day.
    pub excluded: Excluded,
}

/// The kinds of schedules, with the members that are theirs alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KindDraft {
    /// No schedule.
    #[default]
    None,
    /// `second minute hour day-of-month month day-of-week [year]`
    Cron(CronDraft),
    /// `minute hour day-of-month month day-of-week`
    UnixCron(CronDraft),
    /// Every so many seconds, counted from the job's creation: 1 to 31,536,000.
    FixedRate {
        /// The period.
        seconds: i64,
    },
    /// So many seconds after the end of the last run: 1 to 31,536,000.
    FixedDelay {
        /// The pause.
        seconds: i64,
    },
    /// At one moment.
    Once {
        /// The moment, UTC ms; an instant is a whole second.
        at: Millis,
    },
    /// Every so many seconds between two times of day.
    Daily(DailyDraft),
}

/// A cron expression with its clock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CronDraft {
    /// In the dialect of its kind.
    pub expression: String,
    /// An IANA name; `UTC` if it is left out.
    pub timezone: String,
    /// What happens when the clocks change; `carillon` if it is left out.
    pub clock_changes: ClockChanges,
}

/// A window of the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyDraft {
    /// 1 to 86,400.
    pub every_seconds: i64,
    /// `HH:MM` or `HH:MM:SS`, the first instant.
    pub from: String,
    /// No instant lies after it. Earlier than `from`: of the next day.
    pub to: String,
    /// On which days windows begin; all if it is left out.
    pub weekdays: Vec<Weekday>,
    /// An IANA name; `UTC` if it is left out.
    pub timezone: String,
    /// What happens when the clocks change; `carillon` if it is left out.
    pub clock_changes: ClockChanges,
}

impl From<KindDraft> for ScheduleDraft {
    fn from(kind: KindDraft) -> Self {
        Self { kind, ..Self::default() }
    }
}

impl ScheduleDraft {
    /// No schedule.
    pub fn none() -> Self {
        Self::default()
    }

    /// A cron schedule under the default policy for clock changes.
    pub fn cron(expression: impl Into<String>, timezone: impl Into<String>) -> Self {
        KindDraft::Cron(CronDraft::new(expression, timezone)).into()
    }

    /// A Unix cron schedule under the default policy for clock changes.
    pub fn unix_cron(expression: impl Into<String>, timezone: impl Into<String>) -> Self {
        KindDraft::UnixCron(CronDraft::new(expression, timezone)).into()
    }

    /// Every so many seconds.
    pub fn fixed_rate(seconds: i64) -> Self {
        KindDraft::FixedRate { seconds }.into()
    }

    /// So many seconds after the end of the last run.
    pub fn fixed_delay(seconds: i64) -> Self {
        KindDraft::FixedDelay { seconds }.into()
    }

    /// At one moment.
    pub fn once(at: Millis) -> Self {
        KindDraft::Once { at }.into()
    }

    /// Its `kind` in the API.
    pub fn kind(&self) -> &'static str {
        self.kind.as_str()
    }
}

impl KindDraft {
    /// Every word of `kind`, in the order in which people are told of them.
    pub const WORDS: [&'static str; 7] = ["none", "cron", "unix_cron", "fixed_rate", "fixed_delay", "once", "daily"];

    /// The word of the API.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Cron(_) => "cron",
            Self::UnixCron(_) => "unix_cron",
            Self::FixedRate { .. } => "fixed_rate",
            Self::FixedDelay { .. } => "fixed_delay",
            Self::Once { .. } => "once",
            Self::Daily(_) => "daily",
        }
    }
}

impl CronDraft {
    /// Under the default policy for clock changes.
    pub fn new(expression: impl Into<String>, timezone: impl Into<String>) -> Self {
        Self { expression: expression.into(), timezone: timezone.into(), clock_changes: ClockChanges::default() }
    }
}
