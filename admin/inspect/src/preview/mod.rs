//! What a schedule will do, saved or not: its next instants, what calendars leave out or move, where its spread puts it,
//! and what happens when the clocks change. The API and the console show the same.

mod calendar_change;
mod clock_changes;
mod excluded_days;
mod next_fires;
#[cfg(test)]
mod next_fires_tests;
mod wall_clock;

pub use calendar_change::{CalendarChange, calendar_change};
pub use excluded_days::ExcludedDay;
pub use next_fires::{Preview, Span, Spread, of_job, preview};
pub use wall_clock::local;
