//! The languages of the console: which one a person reads, and the catalogue of its texts.

mod catalogue;
mod language;
mod message;
mod script;
mod sentences;

pub use language::{LANGUAGE, Language};
pub use message::Message;
