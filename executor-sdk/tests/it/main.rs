//! A real executor on loopback, called as an admin calls it, with a stub in the admin's place.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod worker;

mod blocked;
mod blocking;
mod connections;
mod contract;
mod credentials;
mod declared;
mod endings;
mod examples;
mod killed;
mod logs;
mod loops;
mod map;
mod refused;
mod restart;
mod results;
mod scripts;
mod stop;
