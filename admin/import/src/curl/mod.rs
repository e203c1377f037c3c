//! From a line of curl to the request of an HTTP job: as a person writes it, or as a browser copies it ("Copy as cURL (bash)").
//!
//! The line is only read: no command runs, and no file is opened. Its credentials are not kept: the request names secrets of the app in
//! their place, which an administrator of the app has to set.

mod arguments;
mod credentials;
mod notes;
mod options;
mod quotes;
mod reader;
#[cfg(test)]
mod reader_tests;
mod request;
mod target;
mod words;

pub use notes::{CurlRequest, Ignored, Meaning, Note, Unavailable};
pub use reader::read;
