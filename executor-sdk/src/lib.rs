#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod admin;
mod builder;
mod certificates;
mod context;
mod context_builder;
mod data_dir;
mod error;
mod executor;
mod handler;
mod job_log;
mod journal;
mod lane;
mod map;
mod own_thread;
mod run;
mod script;
mod server;
mod settings;
mod shutdown;

pub use builder::ExecutorBuilder;
pub use context::JobContext;
pub use context_builder::JobContextBuilder;
pub use error::Error;
pub use executor::{Executor, ExecutorHandle};
pub use handler::{JobError, JobHandler, Outcome};
pub use journal::Durability;
pub use map::{ItemContext, ItemOutcome, ItemOutcomes, MapContext, MapJob, MapReduceJob, ReduceContext};
pub use script::{Script, ScriptType};
