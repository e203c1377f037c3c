//! HTTP headers. Names are compared without regard to case.
//!
//! The first two are xxl-job's. The others are Carillon's own: executors may ignore them. They are not JSON members because
//! some executors refuse unknown members.

/// The access token, on every request in both directions.
pub const TOKEN: &str = "XXL-JOB-ACCESS-TOKEN";
/// Name of the executor's app, in both directions (optional; the Java snapshot after 3.4 expects it).
pub const APP: &str = "XXL-JOB-APPNAME";

/// On `/run`: `<job>:<cause>:<number>:<part>`, the same for all attempts; a handler's idempotency key.
pub const FIRE_KEY: &str = "Carillon-Fire-Key";
/// On `/run`: the instant the fire stands for, UTC epoch milliseconds.
pub const SCHEDULED_AT: &str = "Carillon-Scheduled-At";
/// On `/run`: 1, 2 …
pub const ATTEMPT: &str = "Carillon-Attempt";
/// On `/run`: epoch of the shard lease under which the run was sent.
pub const EPOCH: &str = "Carillon-Epoch";
/// On `/run`: UTC epoch milliseconds after which the executor should refuse the run, allowing 5 s for its own clock.
pub const NOT_AFTER: &str = "Carillon-Not-After";
/// On `/run`, of runs that follow from the items of another run: [`PHASE_ITEMS`] or [`PHASE_REDUCE`].
pub const PHASE: &str = "Carillon-Phase";
/// The parameters are a [`Delivery`](crate::Delivery) of items.
pub const PHASE_ITEMS: &str = "items";
/// All items have their outcomes; the parameters are a [`Reduction`](crate::Reduction).
pub const PHASE_REDUCE: &str = "reduce";
/// On requests of HTTP jobs: where the service that answers 202 reports the end of the run.
pub const CALLBACK: &str = "Carillon-Callback";
/// On `/run`: the W3C trace context of the run.
pub const TRACEPARENT: &str = "traceparent";
/// On `/kill`: the run of the job that is killed.
pub const RUN_ID: &str = "Carillon-Run-Id";
/// On `/api/registry`, `/api/callback` and answers to `/run`: random for each start of an executor.
pub const BOOT_ID: &str = "Carillon-Boot-Id";
/// On `/api/registry`: random, stored in the executor's journal, new only with a new journal. On `/run`, when a run is sent
/// again: the journal that has the run; an executor with another journal refuses the run with
/// [`OTHER_JOURNAL`](crate::OTHER_JOURNAL).
pub const JOURNAL_ID: &str = "Carillon-Journal-Id";
/// On `/api/registry`: comma list, see [`CAPABILITY_IDEM`].
pub const CAPABILITIES: &str = "Carillon-Capabilities";
/// On `/api/registry`: the executor's weight for jobs with the route `weighted`, 1 to 100. An operator's setting wins.
pub const WEIGHT: &str = "Carillon-Weight";
/// On `/api/registry`: `key=value,key2=value2`; jobs may require labels. An operator's setting wins.
pub const LABELS: &str = "Carillon-Labels";
/// On answers to `/run`: when the executor received the request, by its own clock, UTC epoch milliseconds.
pub const RECEIVED_AT: &str = "Carillon-Received-At";
/// On `/api/registry`: the digest of the jobs that the executor's program declares, see [`Declaration`](crate::Declaration).
pub const DECLARED: &str = "Carillon-Declared";
/// On answers to `/run` for a run that the executor already has, and to `/log`: `queued`, `running` or `finished`.
pub const RUN_STATE: &str = "Carillon-Run-State";

/// In place of [`TOKEN`], on every request between an admin and an executor with the capability `signed`: see
/// [`SigningKey`](crate::SigningKey).
pub const SIGNATURE: &str = "Carillon-Signature";

/// The capability to answer a repeated `/run` without running it twice, also after a restart.
pub const CAPABILITY_IDEM: &str = "idem";
/// The capability to take several runs in one request, `POST /runs`; see [`RunBatch`](crate::RunBatch).
pub const CAPABILITY_BATCH: &str = "batch";
/// The capability to fire a job by itself, `POST /loop`; see [`LoopGrant`](crate::LoopGrant).
pub const CAPABILITY_LOOP: &str = "loop";
/// The executor sends no access token and takes none: its requests, and those to it, are signed.
pub const CAPABILITY_SIGNED: &str = "signed";
/// Begins the capability to run scripts of a type: `script:shell` stands for `GLUE_SHELL`.
pub const CAPABILITY_SCRIPT: &str = "script:";
