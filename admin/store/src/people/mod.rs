//! Accounts, sessions and the throttle of sign-ins.

pub mod accounts;
pub mod sessions;
pub mod throttle;
