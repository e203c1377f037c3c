//! Signing in and out, the first administrator, and the preferences of a browser.

pub mod kept_form;
pub mod login;
pub mod preferences;
pub mod setup;
