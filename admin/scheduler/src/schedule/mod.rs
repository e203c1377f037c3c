//! When a job fires.
//!
//! A schedule is stored as its [`ScheduleDraft`] and the [`ScheduleContext`] that belongs to it, and parsed again when it
//! is used. Everything here is arithmetic on UTC milliseconds.

mod daily;
#[cfg(test)]
mod daily_tests;
mod draft;
mod instants;
mod interval;
mod kind;
#[cfg(test)]
mod messages_tests;
mod once;
mod parse;
#[cfg(test)]
mod parse_tests;
mod schedule_input;
#[cfg(test)]
mod schedule_input_tests;
pub mod spread;

pub use draft::{CronDraft, DailyDraft, KindDraft, ScheduleDraft};
pub use instants::{Schedule, ScheduleContext};
pub use schedule_input::ScheduleInput;
