//! What is wrong with a file.

use std::fmt;

/// One fault: where it is, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// Empty: the fault is about the whole file.
    pub member: String,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.member[..] {
            "" => write!(f, "{}:{}: {}", self.file, self.line, self.message),
            member => write!(f, "{}:{}: {member}: {}", self.file, self.line, self.message),
        }
    }
}
