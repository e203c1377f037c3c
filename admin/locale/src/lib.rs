#![doc = include_str!("../README.md")]

mod catalogue;
mod language;
mod message;
mod number;
mod sentences;

pub use language::Language;
pub use message::{Count, Markup, Message};
pub use number::grouped;
