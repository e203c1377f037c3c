//! Who may do what: every route, every kind of caller, objects of the own app, of another app, and missing ones.

mod audited;
mod callers;
mod lists;
mod matrix;
mod request;
mod world;
