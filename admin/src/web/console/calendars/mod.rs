//! Calendars: the list, the form and its preview, deleting.

pub mod delete;
pub mod form;
pub mod list;
pub mod preview;
