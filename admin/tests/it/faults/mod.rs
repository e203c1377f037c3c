//! The real program under faults: killed, stopped, hung on by an executor, started with wrong settings.

mod alarms;
mod clock;
mod flood;
mod hanging;
mod kill;
mod lateness;
mod loris;
mod privilege;
mod rolling;
mod rotation;
mod schema;
mod start;
mod stop;
mod takeover;

pub mod api;
pub mod ledger;
pub mod load;
