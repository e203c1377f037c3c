#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod alarm;
pub mod block;
pub mod clock;
pub mod job;
pub mod misfire;
pub mod overlap;
pub mod plan;
pub mod retry;
pub mod ring;
pub mod route;
pub mod run;
pub mod schedule;
pub mod shard;
pub mod spread;
pub mod timers;
mod words;

pub use alarm::AlarmKind;
pub use block::BlockStrategy;
/// The edition of the time zone database that instants are computed with, such as `2025b`.
pub use chrono_tz::IANA_TZDB_VERSION as TZDATA;
pub use clock::{Clock, ManualClock, Observed, Sample, SystemClock};
pub use job::{FieldError, JobDraft, JobSpec, validate_app_name};
pub use misfire::{CatchUp, MisfirePolicy};
pub use overlap::Overlap;
pub use plan::{Plan, SkipReason, Skipped, Timing, plan};
pub use retry::RetryDelay;
pub use ring::{Entry, Ring};
pub use route::{Labels, RouteStrategy};
pub use run::{Cause, FireKey, Outcome, RunEvent, RunState};
pub use schedule::{
    Calendar, ClockChanges, CronDraft, CronSchedule, DailyDraft, Excluded, Facts, FixedRate, KindDraft, Schedule,
    ScheduleDraft, ScheduleInput, Weekday,
};
pub use shard::{fair_share, shard_of};
pub use timers::Timers;
pub use words::UnknownWord;

/// A moment in UTC epoch milliseconds, as every column named `…_at` holds it.
pub type Millis = i64;
