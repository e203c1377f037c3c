//! From an alarm to a message at its receiver.

mod delivery;
mod receiver;
mod storm;
mod world;
