#![doc = include_str!("../README.md")]
#![recursion_limit = "256"]

pub mod channel;
mod deliverer;
mod flush;
pub mod manage;
pub mod message;
mod router;
mod rule_match;
#[cfg(test)]
mod samples;
pub mod silence;
mod usual_duration;
mod watch;

pub use deliverer::AlertDeliverer;
pub use manage::Alerts;
pub use router::AlertRouter;
