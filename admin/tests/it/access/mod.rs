//! Who may do what: every route, every kind of caller, objects of the own app, of another app, and missing ones. And what is
//! asked of all routes alike: forged requests, headers, failures, secrets.

mod audited;
mod callers;
mod denied;
mod exposed;
mod forged;
mod job_secrets;
mod lists;
mod matrix;
mod moved;
mod request;
mod scheduled;
mod unaudited;
mod world;
