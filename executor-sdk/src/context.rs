//! What a handler knows about its run.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use crate::job_log::RunLog;
use crate::run::{Run, wall_clock};
use crate::script::{Script, ScriptType};

/// What a handler knows about its run; cheap to clone.
#[derive(Clone)]
pub struct JobContext {
    run: Arc<Run>,
    log: Arc<RunLog>,
    stop: CancellationToken,
}

impl JobContext {
    pub(crate) fn new(run: Arc<Run>, log: RunLog) -> Self {
        let stop = run.stop.clone();
        Self { run, log: Arc::new(log), stop }
    }

    /// The same run, which this token cancels.
    pub(crate) fn with_cancellation(&self, stop: CancellationToken) -> Self {
        Self { stop, ..self.clone() }
    }

    /// See [`PHASE`](carillon_protocol::headers::PHASE).
    pub(crate) fn phase(&self) -> Option<&str> {
        self.run.meta.phase.as_deref()
    }

    /// The job's parameter text, or the one given with "run once".
    pub fn params(&self) -> &str {
        &self.run.request.params
    }

    /// Index of this run among the parts of its fire, from 0: of a broadcast, or of a job with `parts`; 0 for other jobs.
    pub fn broadcast_index(&self) -> i32 {
        self.run.request.broadcast_index
    }

    /// Number of parts of the fire, at least 1: item `n` belongs to this run if
    /// `n % broadcast_total == broadcast_index`.
    pub fn broadcast_total(&self) -> i32 {
        self.run.request.broadcast_total.max(1)
    }

    /// Id of this run; a retry has another one.
    pub fn run_id(&self) -> i64 {
        self.run.request.log_id
    }

    /// Id of the job.
    pub fn job_id(&self) -> i32 {
        self.run.request.job_id
    }

    /// The handler's name, as the job uses it.
    pub fn handler(&self) -> &str {
        &self.run.request.handler
    }

    /// The script of this run; `None` for a run of a handler of the program.
    pub fn script(&self) -> Option<Script<'_>> {
        let request = &self.run.request;
        let kind = ScriptType::from_wire(&request.glue_type)?;
        Some(Script { kind, source: &request.glue_source, version: request.glue_updatetime })
    }

    /// The same for all attempts of one fire: the key with which a handler ensures that the work is done once. `None`
    /// when the admin is not Carillon's.
    pub fn fire_key(&self) -> Option<&str> {
        self.run.meta.fire_key.as_deref()
    }

    /// The W3C trace context of this run, as a header `traceparent` has it: pass it on to what the handler calls. All attempts of a fire
    /// share its trace. `None` when the admin does not send one.
    pub fn traceparent(&self) -> Option<&str> {
        self.run.meta.traceparent.as_deref()
    }

    /// 1 for the first attempt, 2 and more for retries.
    pub fn attempt(&self) -> u32 {
        self.run.meta.attempt
    }

    /// The instant that this run is scheduled for, not the time of its start; in whole milliseconds. When the admin is
    /// not Carillon's, the time at which the admin triggered the run.
    pub fn scheduled_at(&self) -> SystemTime {
        wall_clock::from_ms(self.run.meta.scheduled_at.unwrap_or(self.run.request.log_date_time))
    }

    /// Waits until the run is cancelled: killed, out of time, replaced by a later run, or the executor stops. The handler
    /// then has 5 s to end by itself.
    pub async fn cancelled(&self) {
        self.stop.cancelled().await;
    }

    /// Whether the run is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// The token behind [`cancelled`](Self::cancelled), to pass to other code.
    pub fn cancellation(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Writes to the run's log, which the admin's console shows; see also [`log!`](crate::log!).
    ///
    /// The first call creates the file. At 16 MiB the log ends with a line "truncated". Control characters are escaped.
    /// A line that cannot be written is reported through `tracing` and does not fail the run.
    pub fn log(&self, text: impl fmt::Display) {
        self.log.write(&text.to_string());
    }
}

/// Writes a formatted line to the run's log: `log!(ctx, "{} rows", n)`.
#[macro_export]
macro_rules! log {
    ($ctx:expr, $($text:tt)+) => {
        $ctx.log(::std::format_args!($($text)+))
    };
}
