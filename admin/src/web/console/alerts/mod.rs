//! Alerts, rules, channels, and what was sent.

pub mod bulk;
pub mod channels;
pub mod list;
mod message_line;
pub mod page;
pub mod rule_form;
pub mod rules;
mod words;
