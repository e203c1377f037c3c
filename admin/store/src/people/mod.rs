//! Accounts, what they may do, their sessions and tokens, and the throttle of sign-ins.

pub mod accounts;
pub mod grants;
pub mod one_time;
pub mod sessions;
pub mod throttle;
pub(crate) mod token_sources;
pub mod tokens;
