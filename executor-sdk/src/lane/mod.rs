//! One job's runs in this process: one runs, the others wait or are refused, as the block strategy says.
//!
//! A lane exists while its job has runs here; the task that works it ends with the last one. All that decides about a
//! run (seen before? stopping? the strategy) happens under one lock, so that two requests at once see each other.

mod end;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use carillon_protocol::{BlockStrategy, CallbackItem};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::JobContext;
use crate::handler::BoxedHandler;
use crate::job_log::JobLogs;
use crate::journal::{Home, Journal, Written};
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
    /// Whether the run is written down, so that it may start.
    safe: bool,
}

#[derive(Default)]
struct Lane {
    /// Whether a task works the lane.
    worked: bool,
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
    pub(crate) fn new(ledger: Arc<Ledger>, journal: Journal, logs: JobLogs, runtime: Handle) -> Self {
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
    pub(crate) fn admit(&self, run: Run, handler: Result<Arc<dyn BoxedHandler>, String>, home: &Home) -> Admission {
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
        let run = Arc::new(run);
        let (log_id, meta) = (run.request.log_id, &run.meta);
        let fire_key = meta.fire_key.as_deref();
        self.ledger.begin(log_id, fire_key, meta.attempt);
        let written = self.journal.accept(&run, home);
        let lane = inner.lanes.entry(job_id).or_default();
        lane.queue.push_back(Assignment { run, handler, safe: false });
        Admission::New(written)
    }

    /// Starts the runs that the journal reports, until there is no journal any more.
    pub(crate) async fn start(self: Arc<Self>, mut reports: mpsc::UnboundedReceiver<Vec<Written>>) {
        while let Some(runs) = reports.recv().await {
            let mut inner = self.lock();
            for run in runs {
                if self.is_ready(&mut inner, &run) {
                    self.runtime.spawn(Arc::clone(&self).work(run.job_id));
                }
            }
        }
    }

    /// Notes that a run is written down, or drops it if it cannot be; whether its lane needs a task now.
    fn is_ready(&self, inner: &mut Inner, written: &Written) -> bool {
        if !written.safe {
            self.ledger.forget(written.log_id);
        }
        let Some(lane) = inner.lanes.get_mut(&written.job_id) else {
            return false;
        };
        let is_meant = |waiting: &Assignment| waiting.run.request.log_id == written.log_id;
        // Killed in the meantime: then it is not in the queue any more.
        if let Some(place) = lane.queue.iter().rposition(is_meant) {
            lane.queue[place].safe = written.safe;
            if !written.safe {
                lane.queue.remove(place);
            }
        }
        let ready = lane.queue.front().is_some_and(|first| first.safe);
        if ready && !lane.worked {
            lane.worked = true;
            return true;
        }
        self.remove_if_empty(inner, written.job_id);
        false
    }

    /// Applies the block strategy of a new run to the lane that is there.
    fn block(&self, strategy: BlockStrategy, lane: &mut Lane) -> Result<(), String> {
        match strategy {
            BlockStrategy::DiscardLater => Err(DISCARDED.to_owned()),
            BlockStrategy::CoverEarly => {
                self.end_all(lane, COVERED);
                Ok(())
            }
            BlockStrategy::Serial if lane.queue.len() >= MAX_QUEUE => {
                Err(format!("the job's queue on this executor is full: {MAX_QUEUE} runs wait already"))
            }
            BlockStrategy::Serial => Ok(()),
        }
    }

    /// Works a lane until it is empty, or its next run is not written down yet.
    async fn work(self: Arc<Self>, job_id: i32) {
        let aborted = self.aborted.clone();
        let work = async {
            while let Some(Assignment { run, handler, .. }) = self.next(job_id) {
                self.ledger.running(run.request.log_id);
                let ctx = JobContext::new(Arc::clone(&run), self.logs.open(&run.request));
                self.report(run.perform(&*handler, ctx).await);
            }
        };
        tokio::select! {
            biased;
            () = work => {}
            () = aborted.cancelled() => {}
        }
    }

    fn next(&self, job_id: i32) -> Option<Assignment> {
        let mut inner = self.lock();
        let lane = inner.lanes.get_mut(&job_id)?;
        lane.running = None;
        if let Some(assignment) = lane.queue.pop_front_if(|first| first.safe) {
            lane.running = Some(Arc::clone(&assignment.run));
            return Some(assignment);
        }
        lane.worked = false;
        self.remove_if_empty(&mut inner, job_id);
        None
    }

    fn remove_if_empty(&self, inner: &mut Inner, job_id: i32) {
        let is_empty = |lane: &Lane| !lane.worked && lane.queue.is_empty();
        if inner.lanes.get(&job_id).is_some_and(is_empty) {
            inner.lanes.remove(&job_id);
        }
        if inner.lanes.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    fn report(&self, item: CallbackItem) {
        if self.ledger.finish(&item) {
            self.journal.result(item);
        }
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

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
