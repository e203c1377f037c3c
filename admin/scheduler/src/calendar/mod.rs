//! Civil time: days of the week, named calendars, time zones and their clock changes.
//!
//! A schedule kind says which wall-clock times it means (`WallTimes`) and knows nothing of zones. `zone` answers when the
//! clock of a zone shows a time: never, once or twice. `clock_changes` has one search for each policy, `working_days`
//! applies calendars, and `wall_clock` joins them.

mod clock_changes;
mod day_list;
mod wall_clock;
mod wall_times;
mod weekday;
mod working_days;
mod zone;

pub use clock_changes::ClockChanges;
pub use day_list::{Calendar, Excluded, is_excluded};
pub(crate) use wall_clock::{NextRule, WallClock, utc_after};
pub(crate) use wall_times::WallTimes;
pub use weekday::Weekday;
pub(crate) use working_days::WorkingDays;
