//! Alerts: the rules and channels that people define, what is open, and the outbox of messages.
//!
//! Two transactions make the path: [`routing`] turns events into alerts and clears the marks of the events, [`due`] turns an alert
//! whose time has come into deliveries. A crash between any two steps repeats nothing that is committed and loses nothing.

pub mod alerts;
pub mod channels;
pub mod conditions;
pub mod deliveries;
pub mod due;
mod event;
mod failure_rows;
mod hourly_limit;
mod open_alert;
mod open_item;
pub mod outage;
pub mod recovery;
pub mod routing;
pub mod rules;
