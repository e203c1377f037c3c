use carillon_scheduler::{FieldError, RunState};
use carillon_store as store;

/// Why a request of a person or a program is not fulfilled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Members of the request that are wrong, at least one; a member may be `schedule.seconds` or `[3].children`.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<FieldError>),
    /// The policy does not allow it; the text says what would.
    #[error("{0}")]
    Forbidden(String),
    /// The kind of object, then its id or name.
    #[error("there is no {0}")]
    Missing(String),
    /// A name that must be unique.
    #[error("{0} is taken already")]
    Taken(String),
    /// It was changed since the caller read it.
    #[error("{0}")]
    Changed(String),
    /// Other objects need it; the text names them.
    #[error("{0}")]
    InUse(String),
    /// The stored object cannot be used for this.
    #[error(transparent)]
    Unusable(FieldError),
    #[error("the run is {0}; only a run that is unknown or lost can be resolved")]
    NotOpen(RunState),
    #[error("the run is {state}; only a run that is scheduled can be moved or called off", state = passed(*.0))]
    NotScheduled(RunState),
    /// The executor could not be asked, or refused; a text for people.
    #[error("{0}")]
    Executor(String),
    /// There is no log to show; the text says why.
    #[error("{0}")]
    NoLog(String),
    /// The account does too much at once; it may try again after some seconds.
    #[error("this account does too much at once; try again in {0} s")]
    TooMany(u64),
    #[error(transparent)]
    Store(store::Error),
}

/// What a run is whose time has come: one that is recorded leaves within seconds.
fn passed(state: RunState) -> &'static str {
    match state {
        RunState::Claimed => "about to be sent",
        other => other.as_str(),
    }
}

impl Error {
    pub(crate) fn field(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(field, message)])
    }

    pub(crate) fn missing(object: &str, id: i64) -> Self {
        Self::Missing(format!("{object} {id}"))
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Refused(error) => Self::Invalid(vec![error]),
            store::Error::Missing(object) => Self::Missing(object.trim_start_matches("the ").to_owned()),
            store::Error::Taken(name) => Self::Taken(name),
            store::Error::Changed(text) => Self::Changed(text),
            store::Error::InUse(text) => Self::InUse(text),
            store::Error::Invalid(error) => Self::Unusable(error),
            other => Self::Store(other),
        }
    }
}
