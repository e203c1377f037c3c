use crate::store;

/// Why a wish about a run was not granted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("there is no such job")]
    MissingJob,
    #[error("there is no such run")]
    MissingRun,
    /// It cannot be resolved by hand.
    #[error("the run is {0}; only a run that is unknown or lost can be resolved")]
    NotOpen(carillon_scheduler::RunState),
    /// A member of what was asked for, and what would be right.
    #[error(transparent)]
    Field(carillon_scheduler::FieldError),
    #[error("{0} is not registered for the job's app")]
    Address(String),
    /// The executor could not be asked, or refused; a text for people.
    #[error("{0}")]
    Executor(String),
    /// There is no log to show; the text says why.
    #[error("{0}")]
    NoLog(String),
}
