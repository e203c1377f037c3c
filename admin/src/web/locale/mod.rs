//! The language of a page, and the texts of the console's scripts. The catalogue itself is the crate `carillon-locale`.

mod language;
mod script;

pub use carillon_locale::{Count, Language, Markup, Message, grouped};
pub use language::{LANGUAGE, language_of};
pub use script::script_words;
