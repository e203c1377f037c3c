//! The queues of this executor's jobs and the tasks that work them off.
//!
//! A lane exists while its job has runs here; its task ends with the last of them. The whole decision about a run (seen
//! before? stopping? block strategy) is made under one lock, so that concurrent requests see each other's effects.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use carillon_protocol::{BlockStrategy, CallbackItem, FAILURE};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::execute::execute;
use crate::context::JobContext;
use crate::handler::BoxedHandler;
use crate::job_log::JobLogs;
use crate::journal::{CompletionSink, Journal, JournaledRun};
use crate::run::{Phase, Run, SeenRuns};
use crate::script::ScriptType;

/// Runs of one job that may wait. Java's queue has no limit; this one refuses further runs with a reason.
const MAX_QUEUE: usize = 10_000;
const DISCARDED: &str = "block strategy effect：Discard Later";
const COVERED: &str = "block strategy effect：Cover Early";
const OTHER_SCRIPT: &str = "change job source or glue type, and terminate the old job thread.";

/// The decision about a request to run.
pub(crate) enum EnqueueResult {
    /// Accepted. The receiver gets whether the run is written to the journal; it starts only then.
    New(oneshot::Receiver<bool>),
    /// Seen before.
    Seen(Phase),
    /// Refused, with the reason.
    Refused(String),
}

pub(super) struct WaitingRun {
    run: Arc<Run>,
    handler: Arc<dyn BoxedHandler>,
    /// Whether the run is written to the journal, so that it may start.
    is_written: bool,
}

#[derive(Default)]
pub(super) struct Lane {
    /// Whether a task works the lane off.
    has_task: bool,
    running: Option<Arc<Run>>,
    queue: VecDeque<WaitingRun>,
}

impl Lane {
    /// Whether its last run is one of another script or version than this one. As in Java, the new script replaces it.
    fn has_other_script(&self, run: &Run) -> bool {
        let last = self.queue.back().map(|waiting| &waiting.run).or(self.running.as_ref());
        let script = |run: &Run| (run.request.glue_type.clone(), run.request.glue_updatetime);
        let is_script = |run: &Run| ScriptType::from_wire(&run.request.glue_type).is_some();
        last.is_some_and(|last| (is_script(run) || is_script(last)) && script(last) != script(run))
    }
}

#[derive(Default)]
pub(super) struct State {
    lanes: HashMap<i32, Lane>,
    /// Why new runs are refused, if they are.
    closed: Option<&'static str>,
}

/// Deliveries of one run's items queue: none of them may replace another one, or be dropped for it.
fn block_strategy(run: &Run) -> BlockStrategy {
    match run.meta.phase {
        Some(_) => BlockStrategy::Serial,
        None => BlockStrategy::from_wire(&run.request.block_strategy),
    }
}

/// All lanes, by job id.
pub(crate) struct Lanes {
    state: Mutex<State>,
    emptied: Notify,
    seen_runs: Arc<SeenRuns>,
    journal: Journal,
    logs: JobLogs,
    runtime: Handle,
    aborted: CancellationToken,
}

impl Lanes {
    pub(crate) fn new(seen_runs: Arc<SeenRuns>, journal: Journal, logs: JobLogs, runtime: Handle) -> Self {
        Self {
            state: Mutex::default(),
            emptied: Notify::new(),
            seen_runs,
            journal,
            logs,
            runtime,
            aborted: CancellationToken::new(),
        }
    }

    /// Puts a run into its job's queue, unless it was seen before, is refused with the given reason, or is refused by
    /// the block strategy.
    pub(crate) fn enqueue(
        &self,
        run: Run,
        handler: Result<Arc<dyn BoxedHandler>, String>,
        sink: &CompletionSink,
    ) -> EnqueueResult {
        let mut state = self.state.lock();
        if let Some(phase) = self.seen_runs.phase(run.request.log_id) {
            return EnqueueResult::Seen(phase);
        }
        let handler = match (state.closed, handler) {
            (Some(reason), _) => return EnqueueResult::Refused(reason.to_owned()),
            (None, Err(reason)) => return EnqueueResult::Refused(reason),
            (None, Ok(handler)) => handler,
        };
        let strategy = block_strategy(&run);
        let job_id = run.request.job_id;
        if let Some(lane) = state.lanes.get_mut(&job_id) {
            if lane.has_other_script(&run) {
                self.cancel_lane(lane, OTHER_SCRIPT);
            } else if let Err(reason) = self.apply_block_strategy(strategy, lane) {
                return EnqueueResult::Refused(reason);
            }
        }
        let run = Arc::new(run);
        self.seen_runs.insert(run.request.log_id, run.meta.fire_key.as_deref(), run.meta.attempt);
        let is_written = self.journal.accept(&run, sink);
        let lane = state.lanes.entry(job_id).or_default();
        lane.queue.push_back(WaitingRun { run, handler, is_written: false });
        EnqueueResult::New(is_written)
    }

    /// Decides about a new run of a job that has runs here.
    fn apply_block_strategy(&self, strategy: BlockStrategy, lane: &mut Lane) -> Result<(), String> {
        match strategy {
            BlockStrategy::DiscardLater => Err(DISCARDED.to_owned()),
            BlockStrategy::CoverEarly => {
                self.cancel_lane(lane, COVERED);
                Ok(())
            }
            BlockStrategy::Serial if lane.queue.len() >= MAX_QUEUE => {
                Err(format!("the job's queue on this executor is full: {MAX_QUEUE} runs wait already"))
            }
            BlockStrategy::Serial => Ok(()),
        }
    }

    /// Reports the waiting runs of a lane as not executed, and cancels the running one.
    fn cancel_lane(&self, lane: &mut Lane, reason: &str) {
        for waiting in lane.queue.drain(..) {
            self.report(waiting.run.not_executed(reason));
        }
        if let Some(running) = &lane.running {
            running.cancel(reason);
        }
    }

    /// Starts the runs that the journal has written, until the journal is closed.
    pub(crate) async fn start_journaled(self: Arc<Self>, mut journaled: mpsc::UnboundedReceiver<Vec<JournaledRun>>) {
        while let Some(runs) = journaled.recv().await {
            let mut state = self.state.lock();
            for run in runs {
                if self.needs_task(&mut state, &run) {
                    self.runtime.spawn(Arc::clone(&self).work_off(run.job_id));
                }
            }
        }
    }

    /// Marks a run as written, or removes it if it could not be; returns whether its lane needs a task now.
    fn needs_task(&self, state: &mut State, journaled: &JournaledRun) -> bool {
        if !journaled.is_written {
            self.seen_runs.remove(journaled.log_id);
        }
        let Some(lane) = state.lanes.get_mut(&journaled.job_id) else {
            return false;
        };
        let has_id = |waiting: &WaitingRun| waiting.run.request.log_id == journaled.log_id;
        // A run that was killed in the meantime is not in the queue any more.
        if let Some(index) = lane.queue.iter().rposition(has_id) {
            lane.queue[index].is_written = journaled.is_written;
            if !journaled.is_written {
                lane.queue.remove(index);
            }
        }
        let is_ready = lane.queue.front().is_some_and(|first| first.is_written);
        if is_ready && !lane.has_task {
            lane.has_task = true;
            return true;
        }
        self.remove_if_empty(state, journaled.job_id);
        false
    }

    /// Executes the runs of a lane until it is empty, or its next run is not written yet.
    async fn work_off(self: Arc<Self>, job_id: i32) {
        let aborted = self.aborted.clone();
        let work = async {
            while let Some(WaitingRun { run, handler, .. }) = self.next(job_id) {
                self.seen_runs.set_running(run.request.log_id);
                let ctx = JobContext::new(Arc::clone(&run), self.logs.open(&run.request));
                let span = run.span();
                self.report(tracing::Instrument::instrument(execute(&run, &*handler, ctx), span).await);
            }
        };
        tokio::select! {
            biased;
            () = work => {}
            () = aborted.cancelled() => {}
        }
    }

    fn next(&self, job_id: i32) -> Option<WaitingRun> {
        let mut state = self.state.lock();
        let lane = state.lanes.get_mut(&job_id)?;
        lane.running = None;
        if let Some(next) = lane.queue.pop_front_if(|first| first.is_written) {
            lane.running = Some(Arc::clone(&next.run));
            return Some(next);
        }
        lane.has_task = false;
        self.remove_if_empty(&mut state, job_id);
        None
    }

    fn remove_if_empty(&self, state: &mut State, job_id: i32) {
        let is_empty = |lane: &Lane| !lane.has_task && lane.queue.is_empty();
        if state.lanes.get(&job_id).is_some_and(is_empty) {
            state.lanes.remove(&job_id);
        }
        if state.lanes.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    /// Reports the result of a run, unless it has one already.
    fn report(&self, item: CallbackItem) {
        if self.seen_runs.finish(&item) {
            self.journal.result(item);
        }
    }

    /// Whether this executor has no run of the job.
    pub(crate) fn is_idle(&self, job_id: i32) -> bool {
        !self.state.lock().lanes.contains_key(&job_id)
    }

    /// Refuses new runs from now on.
    pub(crate) fn close(&self, reason: &'static str) {
        self.state.lock().closed = Some(reason);
    }

    /// Waits until no run is left.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.state.lock().lanes.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// Cancels all runs of a job; `false` if there is none.
    pub(crate) fn kill_job(&self, job_id: i32, reason: &str) -> bool {
        let mut state = self.state.lock();
        let lane = state.lanes.get_mut(&job_id);
        lane.map(|lane| self.cancel_lane(lane, reason)).is_some()
    }

    /// Cancels one run of a job; `false` if it is not here.
    pub(crate) fn kill_run(&self, job_id: i32, log_id: i64, reason: &str) -> bool {
        let mut state = self.state.lock();
        let Some(lane) = state.lanes.get_mut(&job_id) else {
            return false;
        };
        let has_id = |run: &Run| run.request.log_id == log_id;
        if let Some(running) = lane.running.as_ref().filter(|run| has_id(run)) {
            running.cancel(reason);
            return true;
        }
        let index = lane.queue.iter().position(|waiting| has_id(&waiting.run));
        let Some(waiting) = index.and_then(|index| lane.queue.remove(index)) else {
            return false;
        };
        self.report(waiting.run.not_executed(reason));
        true
    }

    /// Cancels all runs of all jobs.
    pub(crate) fn cancel_all(&self, reason: &str) {
        for lane in self.state.lock().lanes.values_mut() {
            self.cancel_lane(lane, reason);
        }
    }

    /// Reports the runs whose handlers did not end. If one ends later, its result is ignored.
    pub(crate) fn report_unfinished(&self, reason: &str) {
        for lane in self.state.lock().lanes.values() {
            if let Some(run) = &lane.running {
                self.report(run.result(FAILURE, Some(format!("{reason} [job running, killed]"))));
            }
        }
    }

    /// Drops all handlers at once, without a report, as a crash would.
    pub(crate) fn abort(&self) {
        self.aborted.cancel();
    }
}
