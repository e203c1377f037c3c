//! One job's runs in this process: one runs, the others wait or are refused, as the block strategy says.
//!
//! A lane exists while its job has runs here; the task that works it ends with the last one. All that decides about a
//! run (seen before? stopping? the strategy) happens under one lock, so that two requests at once see each other.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use carillon_protocol::{BlockStrategy, CallbackItem, FAILURE};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use crate::JobContext;
use crate::handler::BoxedHandler;
use crate::job_log::JobLogs;
use crate::journal::Journal;
use crate::ledger::{Ledger, Phase};
use crate::run::Run;

/// Runs of one job that may wait. Java's queue has no limit; ours has one, and says so when it refuses.
const MAX_QUEUE: usize = 10_000;
const DISCARDED: &str = "block strategy effect：Discard Later";
const COVERED: &str = "block strategy effect：Cover Early";

/// What became of a request to run.
pub(crate) enum Admission {
    /// Taken; the receiver says whether it could be written down, and only then does it run.
    New(oneshot::Receiver<bool>),
    /// Seen before.
    Seen(Phase),
    /// Not taken, with the reason.
    Refused(String),
}

struct Assignment {
    run: Arc<Run>,
    handler: Arc<dyn BoxedHandler>,
    /// Resolves when the run is written down; fails when it cannot be.
    start: oneshot::Receiver<()>,
}

#[derive(Default)]
struct Lane {
    running: Option<Arc<Run>>,
    queue: VecDeque<Assignment>,
}

#[derive(Default)]
struct Inner {
    lanes: HashMap<i32, Lane>,
    /// Why no new run is taken, if none is.
    closed: Option<&'static str>,
}

pub(crate) struct Lanes {
    inner: Mutex<Inner>,
    emptied: Notify,
    ledger: Arc<Ledger>,
    journal: Journal,
    logs: JobLogs,
    runtime: Handle,
    /// Ends all handlers where they stand, as a crash would.
    aborted: CancellationToken,
}

impl Lanes {
    pub(crate) fn new(
        ledger: Arc<Ledger>,
        journal: Journal,
        logs: JobLogs,
        runtime: Handle,
    ) -> Self {
        Self {
            inner: Mutex::default(),
            emptied: Notify::new(),
            ledger,
            journal,
            logs,
            runtime,
            aborted: CancellationToken::new(),
        }
    }

    /// Takes a run, unless it was seen before or its job's block strategy refuses it.
    pub(crate) fn admit(
        self: &Arc<Self>,
        run: Run,
        handler: Result<Arc<dyn BoxedHandler>, String>,
    ) -> Admission {
        let mut inner = self.lock();
        if let Some(phase) = self.ledger.phase(run.request.log_id) {
            return Admission::Seen(phase);
        }
        let handler = match (inner.closed, handler) {
            (Some(reason), _) => return Admission::Refused(reason.to_owned()),
            (None, Err(reason)) => return Admission::Refused(reason),
            (None, Ok(handler)) => handler,
        };
        let strategy = BlockStrategy::from_wire(&run.request.block_strategy);
        let job_id = run.request.job_id;
        if let Some(lane) = inner.lanes.get_mut(&job_id)
            && let Err(reason) = self.block(strategy, lane)
        {
            return Admission::Refused(reason);
        }
        let (started, start) = oneshot::channel();
        let run = Arc::new(run);
        let (log_id, meta) = (run.request.log_id, &run.meta);
        self.ledger
            .begin(log_id, meta.fire_key.as_deref(), meta.attempt);
        let written = self.journal.accept(&run, started);
        let new = !inner.lanes.contains_key(&job_id);
        let lane = inner.lanes.entry(job_id).or_default();
        lane.queue.push_back(Assignment {
            run,
            handler,
            start,
        });
        if new {
            let aborted = self.aborted.clone().cancelled_owned();
            let work = Arc::clone(self).work(job_id);
            self.runtime.spawn(async {
                tokio::select! { () = aborted => {}, () = work => {} }
            });
        }
        Admission::New(written)
    }

    /// Applies the block strategy of a new run to the lane that is there.
    fn block(&self, strategy: BlockStrategy, lane: &mut Lane) -> Result<(), String> {
        match strategy {
            BlockStrategy::DiscardLater => Err(DISCARDED.to_owned()),
            BlockStrategy::CoverEarly => {
                self.end_all(lane, COVERED);
                Ok(())
            }
            BlockStrategy::Serial if lane.queue.len() >= MAX_QUEUE => Err(format!(
                "the job's queue on this executor is full: {MAX_QUEUE} runs wait already"
            )),
            BlockStrategy::Serial => Ok(()),
        }
    }

    /// Works a lane until it is empty.
    async fn work(self: Arc<Self>, job_id: i32) {
        while let Some(assignment) = self.next(job_id) {
            let Assignment {
                run,
                handler,
                start,
            } = assignment;
            let log_id = run.request.log_id;
            if start.await.is_err() {
                self.ledger.forget(log_id);
                continue;
            }
            self.ledger.running(log_id);
            let log = self.logs.open(&run.request);
            let ctx = JobContext::new(Arc::clone(&run), log);
            let item = run.perform(&*handler, ctx).await;
            self.report(item);
        }
    }

    fn next(&self, job_id: i32) -> Option<Assignment> {
        let mut inner = self.lock();
        let lane = inner.lanes.get_mut(&job_id)?;
        lane.running = None;
        if let Some(assignment) = lane.queue.pop_front() {
            lane.running = Some(Arc::clone(&assignment.run));
            return Some(assignment);
        }
        inner.lanes.remove(&job_id);
        if inner.lanes.is_empty() {
            self.emptied.notify_waiters();
        }
        None
    }

    fn report(&self, item: CallbackItem) {
        if self.ledger.finish(&item) {
            self.journal.result(item);
        }
    }

    fn end_all(&self, lane: &mut Lane, reason: &str) {
        for waiting in lane.queue.drain(..) {
            self.report(waiting.run.not_executed(reason));
        }
        if let Some(running) = &lane.running {
            running.end(reason);
        }
    }

    /// Ends all runs of a job; `false` if there is none.
    pub(crate) fn kill_job(&self, job_id: i32, reason: &str) -> bool {
        let mut inner = self.lock();
        let lane = inner.lanes.get_mut(&job_id);
        lane.map(|lane| self.end_all(lane, reason)).is_some()
    }

    /// Ends one run of a job; `false` if it is not here.
    pub(crate) fn kill_run(&self, job_id: i32, log_id: i64, reason: &str) -> bool {
        let mut inner = self.lock();
        let Some(lane) = inner.lanes.get_mut(&job_id) else {
            return false;
        };
        let is_meant = |run: &Run| run.request.log_id == log_id;
        if let Some(running) = lane.running.as_ref().filter(|run| is_meant(run)) {
            running.end(reason);
            return true;
        }
        let place = lane.queue.iter().position(|waiting| is_meant(&waiting.run));
        let Some(waiting) = place.and_then(|place| lane.queue.remove(place)) else {
            return false;
        };
        self.report(waiting.run.not_executed(reason));
        true
    }

    /// Whether no run of this job is here.
    pub(crate) fn is_idle(&self, job_id: i32) -> bool {
        !self.lock().lanes.contains_key(&job_id)
    }

    /// Takes no new run from now on.
    pub(crate) fn close(&self, reason: &'static str) {
        self.lock().closed = Some(reason);
    }

    /// Waits until no run is left.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.lock().lanes.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// Ends all handlers at once, without a report.
    pub(crate) fn abort(&self) {
        self.aborted.cancel();
    }

    /// Ends all runs.
    pub(crate) fn end_everything(&self, reason: &str) {
        for lane in self.lock().lanes.values_mut() {
            self.end_all(lane, reason);
        }
    }

    /// Reports the runs whose handlers did not end; should they still, that is not reported any more.
    pub(crate) fn abandon(&self, reason: &str) {
        for lane in self.lock().lanes.values() {
            if let Some(run) = &lane.running {
                self.report(run.result(FAILURE, Some(format!("{reason} [job running, killed]"))));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
