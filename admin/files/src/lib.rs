//! Jobs as files: the format, what an export writes, and what has to change on a server until it is as the files say.
//!
//! This crate reads texts and answers of the HTTP API and writes texts. It opens no file and no connection: the commands
//! `carillon export`, `apply`, `drift` and `schema` do that.

pub mod document;
pub mod export;
pub mod live;
pub mod plan;
pub mod schema;
pub mod yaml;
