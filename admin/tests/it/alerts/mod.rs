//! From an alarm to a message at its receiver.

mod channels;
mod delivery;
mod kinds;
mod life;
mod mail;
pub mod mail_server;
pub mod receiver;
mod storm;
mod world;
