//! What a schedule will do, saved or not: its next instants, what calendars leave out or move, where its spread puts it,
//! and what happens when the clocks change. The API and the console show the same.

mod clock_changes;
mod excluded_days;
mod next_fires;
#[cfg(test)]
mod next_fires_tests;
mod unsaved;
mod wall_clock;

pub use excluded_days::ExcludedDay;
#[cfg(test)]
pub use next_fires::preview;
pub use next_fires::{Preview, Span, of_job};
pub use unsaved::{Error, from_now, of_draft, placeholder_app};
pub use wall_clock::local;
