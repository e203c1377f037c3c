//! Accounts: what they may do, passwords, sessions, tokens, and the first administrator. The console, the API, the engine's entry
//! points and the command line use them.

pub mod device;
pub mod openid;
pub mod own_password;
pub mod password;
pub mod people;
pub mod policy;
pub mod script_session;
pub mod second_factor;
pub mod secret;
pub mod secret_keys;
pub mod session;
pub mod setup;
pub mod sign_in;
pub mod step;
pub mod token;
