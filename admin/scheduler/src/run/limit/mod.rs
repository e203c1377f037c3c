//! Limits of how many runs are at work together: as a user writes one, which of its slots a run needs, and who goes next where runs
//! wait for slots.

mod draft;
mod key;
mod turns;
#[cfg(test)]
mod turns_tests;

pub use draft::{DESCRIPTION_CHARS, KEY_CHARS, LimitDraft, MAX_RUNS, NAME_CHARS, validate_limit_name};
pub use key::{NO_KEY, SlotKey, slot_key};
pub use turns::{MAX_WEIGHT, Turns};
