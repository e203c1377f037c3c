//! Accounts of people, for administrators of all apps.

pub mod actions;
pub mod grant_lines;
pub mod grants;
pub mod link;
pub mod list;
pub mod new;
pub mod page;
