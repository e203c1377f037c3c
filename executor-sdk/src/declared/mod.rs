//! Jobs that the program declares: by the attribute [`job`](macro@crate::job), or with the builder.
//!
//! `declaration` and `workflow` collect what is said about a job, `attribute` is what the macro's code calls, `program` brings all
//! jobs of an executor together and checks them.

pub mod attribute;
mod declaration;
mod job_name;
mod program;
mod registered_job;
mod testing;
mod workflow;

pub use declaration::Declaration;
pub use job_name::JobName;
pub(crate) use job_name::Named;
pub(crate) use program::{DeclaredProgram, DeclaredSettings, collect};
pub(crate) use registered_job::RegisteredJob;
pub use testing::count;
pub use workflow::Workflow;
