//! Jobs that programs declare in their code.
//!
//! An executor announces the digest of its declaration with each heartbeat; `announced` decides whether it is asked for the whole.
//! `applier` is a service of the node that holds the first shard: for each app it takes the declaration that counts, and `reconciler`
//! goes through its jobs, which `resolve` finds by key and name. `code` reads what the code says of a job into the form in which the
//! server keeps jobs, and `compare` decides member by member between the code, what was written last, and the job as it is. What is
//! written is an ordinary edit.

mod announced;
mod applier;
mod code;
mod compare;
mod order;
mod orphans;
mod reconciler;
mod resolve;
mod view;

pub use applier::{Applier, Declarations};
pub use compare::Finding;
pub use view::{AppDeclarations, DeclaredJobView};
