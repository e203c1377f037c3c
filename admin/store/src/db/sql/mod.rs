//! SQL: how a statement is written once for three databases, and how its rows are read.

#[macro_use]
pub(crate) mod rows;

pub(crate) mod bulk;
pub(crate) mod codes;
pub(crate) mod contains;
pub(crate) mod execute;
pub(crate) mod filter;
pub(crate) mod forms;
pub(crate) mod list;
#[doc(hidden)]
pub(crate) mod readable;
pub(crate) mod retry;
pub(crate) mod template;
pub mod text;
pub(crate) mod unique_key;
