//! The words for what happens to a fire: its cause, its key, and the states of its runs.

mod fire_key;
mod state;

pub use fire_key::{FireKey, FireKeyError};
pub use state::{Outcome, RunEvent, RunState};

use crate::words::words;

words! {
    /// Why a fire exists. A retry is no cause but a further attempt.
    pub enum Cause: "cause" {
        /// An instant of the job's schedule.
        Schedule = 0 "schedule",
        /// Somebody pressed "run now".
        Manual = 1 "manual",
        /// The management API asked for it.
        Api = 2 "api",
        /// A parent job's success.
        Child = 3 "child",
        /// Instants of the past, asked for explicitly.
        Backfill = 4 "backfill",
    }
}
