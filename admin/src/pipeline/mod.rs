//! The life of a run, in reading order.

mod error;

use carillon_scheduler::Cause;

pub use error::Error;

/// A fire without a schedule: run now, API, child.
#[derive(Clone, Debug)]
pub struct Fire {
    pub job_id: i64,
    pub cause: Cause,
    /// None: the job's own.
    pub params: Option<String>,
    /// Bound to this executor, which must be registered for the job's app.
    pub address: Option<String>,
    /// A repeated key finds the run of the first time.
    pub idempotency_key: Option<String>,
}

/// What became of the wish to end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kill {
    /// It had not been sent: it never will be.
    Cancelled,
    /// The executor was asked; the end comes as a callback.
    Asked,
    /// There was nothing to end any more.
    AlreadyEnded,
}

/// A piece of a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// Number of the first line asked for, from 1.
    pub from: i32,
    /// Number of the last line in `content`; below `from` if there is nothing new.
    pub to: i32,
    pub content: String,
    /// The run has ended and everything was read.
    pub end: bool,
}

/// The door for all that changes a run.
pub struct Pipeline {}

impl Pipeline {
    /// Records a fire without a schedule; its run is there, `claimed`, when this returns. Answers the run's id.
    pub async fn fire(&self, _ask: Fire) -> Result<i64, Error> {
        Err(Error::MissingJob)
    }

    /// Asks for the end of a run.
    pub async fn kill(&self, _run_id: i64) -> Result<Kill, Error> {
        Err(Error::MissingRun)
    }

    /// The lines of a run's log from line `from` (1 is the first).
    pub async fn read_log(&self, _run_id: i64, _from: i32) -> Result<LogPage, Error> {
        Err(Error::MissingRun)
    }

    /// To be called after an edit was committed: the shard's scan looks at once.
    pub fn job_changed(&self, _shard: i32) {}

    /// To be called after a registration changed: routes see it at once.
    pub fn executors_changed(&self) {}
}
