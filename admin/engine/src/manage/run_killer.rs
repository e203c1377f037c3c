//! Asks executors to end runs: for a person, for the overlap rule of a job, and again for a request that is on the row.

use std::sync::Arc;

use crate::complete::followed_runs::FollowedRuns;
use crate::context::Context;
use crate::executor::client::ExecutorClient;
use crate::executor::directory::ExecutorDirectory;
use crate::executor::outcome::Outcome;
use crate::manage::error::Error;
use crate::plan::due_queue::DueQueue;
use carillon_scheduler::RunState;
use carillon_store::Actor;
use carillon_store::run::cancel::{KillRequest, RunLocation};

/// The result of a request to end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillResult {
    /// It had not been sent: it never will be.
    Cancelled,
    /// The executor was asked; the end comes as a callback. Of a workflow what runs is ended.
    Asked,
    AlreadyEnded,
}

impl KillResult {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Asked => "asked",
            Self::AlreadyEnded => "already_ended",
        }
    }
}

pub struct RunKiller {
    pub cx: Arc<Context>,
    pub client: Arc<ExecutorClient>,
    pub directory: Arc<ExecutorDirectory>,
    pub queue: Arc<DueQueue>,
    pub followed: Arc<FollowedRuns>,
}

impl RunKiller {
    /// Asks for the end of a run: for a person, whose request the audit keeps, or for the job's own rule. A stock executor ends all
    /// that it has of the same job.
    ///
    /// # Errors
    /// No such run; an executor that cannot be asked or refuses; the database.
    pub async fn kill(&self, run_id: i64, by: Option<&Actor>) -> Result<KillResult, Error> {
        let store = &self.cx.store;
        // Stored first: if this node dies before it has asked, the holder of the shard asks.
        let noted = store.runs().request_kill(run_id, self.cx.clock.now(), by).await?;
        match noted.ok_or_else(|| Error::missing("run", run_id))? {
            KillRequest::Cancelled => {
                self.queue.remove(run_id);
                return Ok(KillResult::Cancelled);
            }
            KillRequest::Ended => return Ok(KillResult::AlreadyEnded),
            KillRequest::Noted => {}
        }
        let run = self.run_location(run_id).await?;
        if run.is_held != 0 {
            self.followed.add(&[run_id]);
            return Ok(KillResult::Asked);
        }
        // The node that sent the request of an HTTP job sees it in the row.
        if run.state == RunState::Sending && run.is_http() {
            return Ok(KillResult::Asked);
        }
        // Its service goes on, but its end is not awaited any more.
        if run.state == RunState::Running && run.is_http() {
            store.runs().record_kill_agreed(run_id, self.cx.clock.now()).await?;
            return Ok(KillResult::Asked);
        }
        if let Err(error) = self.send_kill(&run).await {
            store.runs().clear_kill_request(run_id).await?;
            return Err(error);
        }
        store.runs().record_kill_agreed(run_id, self.cx.clock.now()).await?;
        Ok(KillResult::Asked)
    }

    /// For a request that is on the row already.
    pub async fn ask_again(&self, run_id: i64) -> Result<(), Error> {
        if let Some(run) = self.cx.store.runs().run_location(run_id).await? {
            if run.is_held != 0 {
                self.cx.store.runs().wake_held(run_id, self.cx.clock.now()).await?;
                self.followed.add(&[run_id]);
                return Ok(());
            }
            if run.state != RunState::Running || !run.is_http() {
                self.send_kill(&run).await?;
            }
            self.cx.store.runs().record_kill_agreed(run_id, self.cx.clock.now()).await?;
        }
        Ok(())
    }

    pub async fn run_location(&self, run_id: i64) -> Result<RunLocation, Error> {
        self.cx.store.runs().run_location(run_id).await?.ok_or_else(|| Error::missing("run", run_id))
    }

    async fn send_kill(&self, run: &RunLocation) -> Result<(), Error> {
        let (Some(address), Some(app)) = (&run.address, &run.app) else {
            return Err(Error::Executor("it is not known where the run is".into()));
        };
        if run.is_http() {
            return Err(Error::Executor("the request of the run has ended, so there is nothing to end".into()));
        }
        self.directory.registered(app, address).map_err(|error| Error::Executor(error.to_string()))?;
        match self.client.kill(address, app, run.job_id, run.run_id).await {
            Outcome::Accepted => Ok(()),
            Outcome::Refused { message, .. } => Err(Error::Executor(format!("{address} refuses: {message}"))),
            Outcome::NotSent { why } | Outcome::Withheld { why } | Outcome::Unknown { why, .. } => {
                Err(Error::Executor(format!("{address} could not be asked: {why}")))
            }
        }
    }
}
