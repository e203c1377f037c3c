//! Cron expressions in two dialects: that of Quartz and xxl-job, and that of a Unix crontab.
//!
//! The crate `carillon-cron` has the grammar: it checks an expression with messages that name the field. The crate `cron` reads
//! the plain fields (`plain_fields`), as lists without wrapping ranges and steps, which it does not support. The days that match
//! a rule (`days`) are our own. `next` searches the next wall-clock time; [`calendar`](crate::calendar) turns it into an instant.

mod days;
mod expression;
#[cfg(test)]
mod expression_tests;
#[cfg(test)]
mod messages_tests;
mod next;
mod plain_fields;
#[cfg(test)]
mod unix_tests;

pub use carillon_cron::Dialect;
pub use expression::CronSchedule;
