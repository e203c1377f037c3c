//! Accounts, what they may do, how they sign in, their sessions and tokens, and the throttle of sign-ins.

pub mod accounts;
pub mod credentials;
pub mod grants;
pub mod one_time;
pub mod provided;
pub mod second_factor;
pub mod sessions;
pub mod sign_in_steps;
pub(crate) mod source_network;
pub mod throttle;
pub(crate) mod token_sources;
mod token_uses;
pub mod tokens;
