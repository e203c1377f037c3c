//! Limits of how many runs are at work together: as a user writes one, which of its slots a run needs, and who goes next where runs
//! wait for slots.

mod draft;
mod key;
pub(crate) mod name;
mod turns;
#[cfg(test)]
mod turns_tests;

pub use draft::{DESCRIPTION_CHARS, KEY_CHARS, LimitDraft, MAX_RUNS};
pub use key::{NO_KEY, SlotKey, slot_key};
pub use name::{NAME_CHARS, validate_limit_name};
pub use turns::{MAX_WEIGHT, Place, Turns};
