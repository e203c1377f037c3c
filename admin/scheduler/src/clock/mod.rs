//! The only place that reads the system's time. All other code receives `now` as an argument.
//!
//! [`SystemClock`] starts from this machine's time and then follows the observations that it is given. The engine gives it
//! the database's time, so all nodes of one database agree even if their hosts' clocks differ. SQLite has no clock of its
//! own: its only node gives the time of the machine's clock.

mod manual;
mod sample;
mod step_guard;
mod system;
mod time_source;

pub use manual::ManualClock;
pub use sample::{AGREE_MS, Observed, Sample};
pub use system::SystemClock;
pub use time_source::Clock;
