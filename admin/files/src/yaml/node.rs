//! The tree of a file.

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// From 1.
    pub line: usize,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Scalar {
        text: String,
        /// Without quotes: it may be a number or a boolean.
        is_plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// The name of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub line: usize,
    pub text: String,
}

impl Node {
    /// The member of an object.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match &self.content {
            Content::Map(members) => members.iter().find(|(key, _)| key.text == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A single value.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Those of a list; of anything else none.
    pub fn items(&self) -> &[Self] {
        match &self.content {
            Content::List(items) => items,
            _ => &[],
        }
    }

    /// What stands there, for errors.
    pub fn kind(&self) -> &'static str {
        match self.content {
            Content::Scalar { .. } => "a single value",
            Content::List(_) => "a list",
            Content::Map(_) => "an object",
        }
    }
}
