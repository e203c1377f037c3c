//! What the API refuses, and how it says so.

mod bad_input;
mod limits;
mod refusals;
mod scripts;
