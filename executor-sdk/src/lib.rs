#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod admin_client;
mod builder;
mod context;
mod error;
mod executor;
mod handler;
mod intake;
mod job_log;
mod journal;
mod lane;
mod ledger;
mod outbox;
mod registration;
mod run;
mod said;
mod server;
mod token;
mod wall_clock;
mod working;

pub use builder::ExecutorBuilder;
pub use context::JobContext;
pub use error::Error;
pub use executor::{Executor, ExecutorHandle};
pub use handler::{JobError, JobHandler, Outcome};
pub use journal::Durability;
