//! Jobs that programs declare in their code.
//!
//! An executor announces the digest of its declaration with each heartbeat; `announced` decides whether it is asked for the whole.
//! `check` looks at what it sends, once. `rounds` is a service of the node that holds the first shard: for each app that is not `settled`
//! it takes the declaration that counts, and `reconciler` goes through its jobs, which `resolve` finds by key and name. `job` decides what
//! becomes of one: `code` reads what the code says of it into the form in which the server keeps jobs, and `compare` decides member by
//! member between the code, what was written last, and the job as it is. What is written is an ordinary edit.

mod announced;
mod applier;
mod check;
mod code;
mod compare;
mod job;
mod order;
mod orphans;
mod reconciler;
mod resolve;
mod rounds;
mod settled;
mod view;

pub use applier::Declarations;
pub use compare::Finding;
pub use rounds::Applier;
pub use view::{AppDeclarations, DeclaredJobView};
