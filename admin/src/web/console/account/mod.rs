//! Signing in and out, the first administrator, the own account, and the preferences of a browser.

pub mod code;
pub mod kept_form;
pub mod login;
pub mod openid;
pub mod owner;
pub mod page;
pub mod password;
pub mod preferences;
pub mod reset;
pub mod second_factor;
pub mod sessions;
pub mod setup;
pub mod sign_in;
mod step_cookie;
pub mod tokens;
