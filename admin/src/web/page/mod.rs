//! What every page has: its context, the answer that it becomes, the message of a redirect, style sheet and script.

pub mod answer;
pub mod assets;
pub mod context;
pub mod flash;
