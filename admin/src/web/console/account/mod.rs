//! Signing in and out, the first administrator, the own account, and the preferences of a browser.

pub mod kept_form;
pub mod login;
pub mod page;
pub mod password;
pub mod preferences;
pub mod reset;
pub mod sessions;
pub mod setup;
pub mod tokens;
