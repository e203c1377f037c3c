//! Reports as the console and the API ask for them.

mod question;
mod sort;

pub use question::{DAYS, MAX_DAYS, Question, answer, day_text};
pub use sort::ReportSort;
