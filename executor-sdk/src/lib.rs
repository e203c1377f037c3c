#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod admin;
mod builder;
mod certificates;
mod context;
mod context_builder;
mod declared;
mod error;
mod executor;
mod handler;
mod job_log;
mod journal;
mod lane;
mod loops;
mod map;
mod run;
mod script;
mod server;
mod settings;
mod shutdown;

pub use builder::ExecutorBuilder;
/// Declares a job and registers an async function as its handler: see [Declared jobs](crate#declared-jobs).
///
/// ```
/// use carillon_executor::{JobContext, JobError, job};
///
/// #[job(name = "greet", every = "1m")]
/// async fn greet(ctx: &JobContext) -> Result<String, JobError> {
///     Ok(format!("hello, {}", ctx.params()))
/// }
/// ```
///
/// A zone that does not exist, two schedules, and a function that is not async are compile errors:
///
/// ```compile_fail
/// #[carillon_executor::job(cron = "0 0 2 * * ?", timezone = "Europe/Bern")]
/// async fn close() -> Result<(), carillon_executor::JobError> { Ok(()) }
/// ```
/// ```compile_fail
/// #[carillon_executor::job(cron = "0 0 2 * * ?", every = "1m")]
/// async fn close() -> Result<(), carillon_executor::JobError> { Ok(()) }
/// ```
/// ```compile_fail
/// #[carillon_executor::job(every = "1m")]
/// fn close() -> Result<(), carillon_executor::JobError> { Ok(()) }
/// ```
pub use carillon_executor_macros::job;
pub use carillon_protocol::{DeclarePolicy, DeclaredJob};
pub use context::JobContext;
pub use context_builder::JobContextBuilder;
#[doc(hidden)]
pub use declared::attribute;
pub use declared::{Declaration, JobName, Workflow};
pub use error::Error;
pub use executor::{Executor, ExecutorHandle};
pub use handler::{JobError, JobHandler, Json, Outcome};
pub use journal::Durability;
pub use map::{ItemContext, ItemOutcome, ItemOutcomes, MapContext, MapJob, MapReduceJob, ReduceContext};
pub use script::{Script, ScriptType};

/// For tests of programs.
pub mod testing {
    #[doc(hidden)]
    pub use crate::declared::count;
    #[doc(inline)]
    pub use crate::declared_functions as declared;
}

/// `carillon_executor::testing::declared!(12)` fails unless the program has 12 functions with the attribute
/// [`job`](macro@crate::job). Functions of a library crate that the program names nowhere are not linked, so they are silently missing;
/// a test with this line, in the tests of the program, notices it.
#[doc(hidden)]
#[macro_export]
macro_rules! declared_functions {
    ($number:expr) => {
        $crate::testing::count($number)
    };
}
