//! Cron expressions in two dialects: that of Quartz and xxl-job, and that of a Unix crontab.
//!
//! `quartz` and `unix` split an expression and check it with messages that name the field. The crate `cron` reads the plain
//! fields (`plain_fields`), as lists without wrapping ranges and steps, which it does not support. The day rules (`days`)
//! and the years (`years`) are our own. `next` searches the next wall-clock time; [`calendar`](crate::calendar) turns it
//! into an instant.

mod days;
mod error;
mod expression;
#[cfg(test)]
mod expression_tests;
mod field_text;
mod item;
#[cfg(test)]
mod messages_tests;
mod next;
mod plain_fields;
mod quartz;
mod unix;
#[cfg(test)]
mod unix_tests;
mod years;

pub use error::Error;
pub use expression::{CronSchedule, Dialect};
