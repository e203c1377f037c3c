#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod days;
mod error;
mod field_text;
mod fields;
mod item;
pub mod members;
mod parse;
mod quartz;
mod unix;
mod years;
mod zone_names;

pub use days::{DayRule, MonthTerm};
pub use error::Error;
pub use fields::{CronFields, Dialect};
pub use years::Years;
pub use zone_names::{ZONE_NAMES, is_zone};
