//! Accounts: passwords, sessions, and the first administrator. Used by the console and the command line.

pub mod password;
pub mod session;
pub mod setup;
