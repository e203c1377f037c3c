//! One action for many rows of a list: what the forms and pages of jobs and runs have in common.

mod outcome_page;
mod selected;

pub use outcome_page::answer;
pub use selected::{BulkBar, hidden_fields, ids_of, take_count_error};
