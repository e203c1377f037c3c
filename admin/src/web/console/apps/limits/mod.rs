//! Limits of how many runs are at work together: the list, one limit with its line, the form, deleting.

pub mod delete;
pub mod form;
pub mod list;
pub mod page;
