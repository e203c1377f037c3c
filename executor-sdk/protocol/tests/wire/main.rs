//! What goes over the wire, byte for byte, and what other clients send.

mod answers;
mod callbacks;
mod declarations;
mod items;
mod loops;
mod memory;
mod requests;
mod signatures;
