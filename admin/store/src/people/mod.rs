//! Accounts, what they may do, how they sign in, their sessions and tokens, and the throttle of sign-ins.

pub mod accounts;
pub mod grants;
pub mod one_time;
pub mod provided;
pub mod second_factor;
pub mod sessions;
pub mod sign_in_steps;
pub mod throttle;
pub(crate) mod token_sources;
pub mod tokens;
