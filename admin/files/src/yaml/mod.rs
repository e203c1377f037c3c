//! YAML as job files use it: mappings, lists and scalars with their lines. No anchors, aliases, tags or merged keys: they would
//! hide from a reader what a job is.
//!
//! A scalar keeps its text until the member that it belongs to says what it is, so that `no`, `012` and `1.50` stay texts where a
//! text is wanted.

mod node;
mod read;
mod write;

pub use node::{Content, Key, Node};
pub use read::{SyntaxFault, read, read_documents};
pub use write::write;
