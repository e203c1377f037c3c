//! Signing in and out, the own account, and the users.

mod accounts;
mod audited;
mod code_guesses;
mod intruders;
mod preferences;
mod scripts;
mod second_factor;
mod setup;
mod signed_out;
mod users;
