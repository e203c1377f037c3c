//! How far a node has come that runs as several parts, or has handed in items.

use carillon_store::workflow::view::NodeProgress;

use crate::web::locale::Message;
use crate::web::page::PageContext;

/// How many of the parts or items of a node have succeeded.
#[derive(Clone, Copy)]
pub struct Share {
    /// The sentence that says it.
    pub text: &'static str,
    pub succeeded: i64,
    pub all: i64,
}

impl Share {
    /// None: its fire is not split, and has no items.
    pub fn of(it: &NodeProgress) -> Option<Self> {
        if it.parts > 1 {
            return Some(Self { text: "node-parts", succeeded: it.parts_succeeded, all: it.parts.into() });
        }
        (it.items > 0).then_some(Self { text: "node-items", succeeded: it.items_succeeded, all: it.items })
    }

    pub fn say(&self, context: &PageContext) -> Message {
        context.t(self.text).with("done", self.succeeded).with("all", self.all)
    }
}
