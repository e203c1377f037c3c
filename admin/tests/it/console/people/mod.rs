//! Signing in and out, the own account, and the users.

mod accounts;
mod preferences;
mod second_factor;
mod setup;
mod signed_out;
mod users;
