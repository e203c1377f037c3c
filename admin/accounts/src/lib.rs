//! Accounts: passwords, sessions, and the first administrator. The console and the command line use them.

pub mod password;
pub mod secret;
pub mod session;
pub mod setup;
pub mod sign_in;
