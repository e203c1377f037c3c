//! A text of the catalogue with its arguments, as a template writes it.

use std::fmt;

use askama::filters::{Html, HtmlSafe, escape};
use fluent_bundle::{FluentArgs, FluentValue};

use crate::catalogue;
use crate::language::Language;

/// Written as text: a template escapes it.
#[derive(Clone, Debug)]
pub struct Message {
    language: Language,
    key: &'static str,
    args: Vec<(&'static str, FluentValue<'static>)>,
}

impl Language {
    /// A text of the catalogue.
    pub fn text(self, key: &'static str) -> Message {
        Message { language: self, key, args: vec![] }
    }
}

impl Message {
    /// An argument that is a text.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.args.push((name, FluentValue::from(value.to_string())));
        self
    }

    /// An argument that is a number, from which the catalogue may choose singular or plural.
    #[must_use]
    pub fn count(mut self, name: &'static str, value: impl Count) -> Self {
        self.args.push((name, FluentValue::from(value.count())));
        self
    }

    /// The text with the tags that the catalogue has in it. Arguments are escaped.
    pub fn markup(mut self) -> Markup {
        for (_, value) in &mut self.args {
            if let FluentValue::String(text) = value {
                *value =
                    FluentValue::from(escape(&*text, Html).map_or_else(|_| String::new(), |safe| safe.to_string()));
            }
        }
        Markup(self.to_string())
    }
}

impl fmt::Display for Message {
    /// English stands in for a text that another language lacks; the key for one that both lack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: FluentArgs<'_> = self.args.iter().map(|(name, value)| (*name, value.clone())).collect();
        let text = [self.language, Language::English].into_iter().find_map(|it| catalogue::text(it, self.key, &args));
        f.write_str(text.as_deref().unwrap_or(self.key))
    }
}

/// Text of the catalogue with its tags, which a template writes as they are.
#[derive(Clone, Debug)]
pub struct Markup(String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// A number of things, also by reference as templates have it.
pub trait Count {
    fn count(&self) -> i64;
}

impl Count for i64 {
    fn count(&self) -> i64 {
        *self
    }
}

impl Count for u64 {
    fn count(&self) -> i64 {
        i64::try_from(*self).unwrap_or(i64::MAX)
    }
}

impl Count for u32 {
    fn count(&self) -> i64 {
        i64::from(*self)
    }
}

impl Count for i32 {
    fn count(&self) -> i64 {
        i64::from(*self)
    }
}

impl Count for usize {
    fn count(&self) -> i64 {
        i64::try_from(*self).unwrap_or(i64::MAX)
    }
}

impl<T: Count> Count for &T {
    fn count(&self) -> i64 {
        (*self).count()
    }
}
