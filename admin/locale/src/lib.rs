#![doc = include_str!("../README.md")]

mod catalogue;
mod language;
mod message;
mod sentences;

pub use language::Language;
pub use message::Message;
