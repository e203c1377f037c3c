//! `/reports`: what runs came to.

mod report;
mod view;

pub use report::{DAYS, LIMIT, MAX_DAYS, MAX_LIMIT, report};
