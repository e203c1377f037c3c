//! A schedule as a user writes it: the form that the API takes and the database stores.

use crate::calendar::{ClockChanges, Excluded, Weekday};
use crate::time::Millis;
use crate::zone::Zone;

/// A schedule that is not validated: a kind, and the members that every kind but `none` may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduleDraft {
    /// When it fires.
    pub kind: KindDraft,
    /// No instant is before it, UTC ms.
    pub start_at: Option<Millis>,
    /// No instant is after it, UTC ms.
    pub end_at: Option<Millis>,
    /// The number of fires after which the schedule is exhausted: 1 to 1,000,000,000.
    pub max_fires: Option<u32>,
    /// Every instant is moved by the same offset within this number of seconds; 0: none, else 2 to 86,400.
    pub spread_seconds: u32,
    /// The second of `spread_seconds` by which every instant is moved; `None`: the server chooses it, and keeps it.
    pub spread_offset_seconds: Option<u32>,
    /// From when a fixed rate counts, UTC ms, a whole second; `None`: the job's creation, and what it is stays.
    pub anchor_at: Option<Millis>,
    /// The names of the calendars that exclude days.
    pub calendars: Vec<String>,
    /// The rule for instants on excluded days.
    pub excluded: Excluded,
}

/// The kinds of schedules, each with its own members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KindDraft {
    /// No schedule.
    #[default]
    None,
    /// `second minute hour day-of-month month day-of-week [year]`
    Cron(CronDraft),
    /// `minute hour day-of-month month day-of-week`
    UnixCron(CronDraft),
    /// A fixed period, counted from the anchor: 1 to 31,536,000 s.
    FixedRate {
        /// The period.
        seconds: i64,
    },
    /// A fixed period of best-effort jobs, counted from the anchor: 50 to 3,600,000 ms. In the API it is a `fixed_rate` too.
    FixedPeriod {
        /// The period.
        milliseconds: i64,
    },
    /// A fixed delay after the end of the last run: 1 to 31,536,000 s.
    FixedDelay {
        /// The delay.
        seconds: i64,
    },
    /// At one instant.
    Once {
        /// UTC ms; rounded up to a whole second.
        at: Millis,
    },
    /// A fixed period between two times of day.
    Daily(DailyDraft),
}

/// A cron expression with its time zone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CronDraft {
    /// In the dialect of its kind.
    pub expression: String,
    /// An IANA name; `UTC` by default.
    pub timezone: String,
    /// The policy for clock changes; `carillon` by default.
    pub clock_changes: ClockChanges,
}

/// A window of the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyDraft {
    /// 1 to 86,400.
    pub every_seconds: i64,
    /// `HH:MM` or `HH:MM:SS`, the first instant.
    pub from: String,
    /// No instant is after it. If it is earlier than `from`, it belongs to the next day.
    pub to: String,
    /// The days on which windows begin; all by default.
    pub weekdays: Vec<Weekday>,
    /// An IANA name; `UTC` by default.
    pub timezone: String,
    /// The policy for clock changes; `carillon` by default.
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

    /// A fixed period.
    pub fn fixed_rate(seconds: i64) -> Self {
        KindDraft::FixedRate { seconds }.into()
    }

    /// A fixed delay after the end of the last run.
    pub fn fixed_delay(seconds: i64) -> Self {
        KindDraft::FixedDelay { seconds }.into()
    }

    /// At one instant.
    pub fn once(at: Millis) -> Self {
        KindDraft::Once { at }.into()
    }

    /// The zone whose clock it goes by; UTC if it goes by none.
    pub fn zone(&self) -> Zone {
        match &self.kind {
            KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => cron.timezone.trim().parse(),
            KindDraft::Daily(daily) => daily.timezone.trim().parse(),
            _ => Ok(Zone::UTC),
        }
        .unwrap_or(Zone::UTC)
    }

    /// The `kind` in the API.
    pub fn kind(&self) -> &'static str {
        self.kind.as_str()
    }
}

impl KindDraft {
    /// Every word of `kind`, in the order of messages.
    pub const WORDS: [&'static str; 7] = ["none", "cron", "unix_cron", "fixed_rate", "fixed_delay", "once", "daily"];

    /// Whether its instants are counted from the anchor.
    pub const fn is_rate(&self) -> bool {
        matches!(self, Self::FixedRate { .. } | Self::FixedPeriod { .. })
    }

    /// The word of the API.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Cron(_) => "cron",
            Self::UnixCron(_) => "unix_cron",
            Self::FixedRate { .. } | Self::FixedPeriod { .. } => "fixed_rate",
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
