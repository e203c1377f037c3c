//! What the code of the attribute [`job`](macro@crate::job) calls. Not for other code.
#![doc(hidden)]

use futures_util::future::BoxFuture;
pub use inventory;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::declaration::Declaration;
use crate::context::JobContext;
use crate::handler::{JobError, Json, Outcome};

/// A run of a declared function.
pub type Running = BoxFuture<'static, Result<Outcome, JobError>>;

/// A function with the attribute, anywhere in the program.
pub struct DeclaredFunction {
    pub app: Option<&'static str>,
    pub package: &'static str,
    pub version: &'static str,
    pub declaration: fn() -> Declaration,
    pub run: fn(JobContext) -> Running,
}

inventory::collect!(DeclaredFunction);

/// The parameters of a run as JSON; without parameters, those of `{}` or `null`.
pub fn params<P: DeserializeOwned>(ctx: &JobContext) -> Result<P, JobError> {
    let text = ctx.params().trim();
    let read = match text.is_empty() {
        true => serde_json::from_str("{}").or_else(|error| serde_json::from_str("null").map_err(|_| error)),
        false => serde_json::from_str(text),
    };
    read.map_err(|error| {
        let handler = ctx.handler();
        JobError::new(format!("the parameters are not those that \"{handler}\" takes: {error}"))
    })
}

/// What a declared function may return as its success.
pub trait IntoOutcome {
    fn into_outcome(self) -> Result<Outcome, JobError>;
}

impl<T: Into<Outcome>> IntoOutcome for T {
    fn into_outcome(self) -> Result<Outcome, JobError> {
        Ok(self.into())
    }
}

impl<T: Serialize> IntoOutcome for Json<T> {
    fn into_outcome(self) -> Result<Outcome, JobError> {
        let text = serde_json::to_string(&self.0);
        text.map(Outcome::from).map_err(|error| JobError::new(format!("the result cannot be written as JSON: {error}")))
    }
}

/// The outcome of a run by what its function returned.
pub fn outcome<T: IntoOutcome, E: Into<JobError>>(returned: Result<T, E>) -> Result<Outcome, JobError> {
    returned.map_err(Into::into)?.into_outcome()
}
