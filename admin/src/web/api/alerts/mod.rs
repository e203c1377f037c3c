//! `/alerts`, `/alert-rules`, `/alert-channels` and `/alert-deliveries`

pub mod channels;
mod list;
pub mod rules;
mod view;

pub use list::{acknowledge, bulk, deliveries, get, list};
