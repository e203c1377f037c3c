//! HTTP headers. Names are compared without regard to case.
//!
//! The first two are xxl-job's. The others are Carillon's own: an executor that does not know them works without, and
//! they are never sent as JSON members, which some executors refuse.

/// The access token, on every request in both directions.
pub const TOKEN: &str = "XXL-JOB-ACCESS-TOKEN";
/// Name of the executor's app, in both directions (the Java snapshot after 3.4 asks for it; optional).
pub const APP: &str = "XXL-JOB-APPNAME";

/// On `/run`: `<job>:<cause>:<number>:<part>`, the same for all attempts; a handler's key to do a thing once.
pub const FIRE_KEY: &str = "Carillon-Fire-Key";
/// On `/run`: the instant the fire stands for, UTC epoch milliseconds.
pub const SCHEDULED_AT: &str = "Carillon-Scheduled-At";
/// On `/run`: 1, 2 …
pub const ATTEMPT: &str = "Carillon-Attempt";
/// On `/run`: epoch of the shard lease under which the run was sent.
pub const EPOCH: &str = "Carillon-Epoch";
/// On `/run`: UTC epoch milliseconds after which the executor should refuse the run, allowing 5 s for its own clock.
pub const NOT_AFTER: &str = "Carillon-Not-After";
/// On `/kill`: the one run of the job that is meant.
pub const RUN_ID: &str = "Carillon-Run-Id";
/// On `/api/registry`, `/api/callback` and answers to `/run`: random for each start of an executor.
pub const BOOT_ID: &str = "Carillon-Boot-Id";
/// On `/api/registry`: random, kept in the executor's journal for as long as the journal lives. On `/run`, when a run is
/// sent again: the journal that is meant; an executor that keeps another one refuses the run with
/// [`OTHER_JOURNAL`](crate::OTHER_JOURNAL).
pub const JOURNAL_ID: &str = "Carillon-Journal-Id";
/// On `/api/registry`: comma list, see [`CAPABILITY_IDEM`].
pub const CAPABILITIES: &str = "Carillon-Capabilities";
/// On `/api/registry`: the executor's share of jobs that are spread by weight, 1 to 100. An operator's setting wins.
pub const WEIGHT: &str = "Carillon-Weight";
/// On `/api/registry`: `key=value,key2=value2`; jobs may ask for executors with certain labels. An operator's setting
/// wins.
pub const LABELS: &str = "Carillon-Labels";
/// On answers to `/run` for a run that the executor had already, and to `/log`: `queued`, `running` or `finished`.
pub const RUN_STATE: &str = "Carillon-Run-State";

/// The capability to answer a repeated `/run` of one run without running it twice, also across a restart.
pub const CAPABILITY_IDEM: &str = "idem";
