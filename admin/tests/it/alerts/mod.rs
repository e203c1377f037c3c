//! From an alarm to a message at its receiver.

mod channel_use;
mod channels;
mod delivery;
mod kinds;
mod life;
mod mail;
pub mod mail_server;
mod outage;
mod pages;
pub mod receiver;
mod rules;
mod storm;
mod world;
