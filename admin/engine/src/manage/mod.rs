//! The entry points for people and programs, one for each subject. A method validates, checks limits, writes with its audit row
//! in one transaction, and wakes the services that must notice the change. The API, the console, the command line and the demo
//! change nothing in any other way. A method that changes something takes the actor and refuses what the policy refuses;
//! where one only reads, the caller has asked the policy.

mod apps;
mod authorize;
pub(crate) mod backfills;
mod bulk;
mod bulk_runs;
mod calendars;
pub(crate) mod entry_points;
pub(crate) mod error;
mod executor_tokens;
mod executors;
mod jobs;
pub mod limits;
mod maintenance_windows;
mod pauses;
mod retention;
pub(crate) mod run_killer;
mod runs;
mod secrets;
mod workflow_runs;

pub use authorize::require;
pub use backfills::{BackfillRange, MAX_CONCURRENT, MAX_INSTANTS};
pub use bulk::{Bulk, BulkAction, BulkOutcome, BulkRequest, MOST_SELECTED, Refusal, Selection};
pub use bulk_runs::RunAction;
pub use entry_points::{
    AppSecrets, AppTokens, Apps, Backfills, Calendars, Executors, Jobs, MaintenanceWindows, Pauses, Retentions,
    RunLimits, Runs,
};
pub use error::Error;
pub use executors::NotAdmitted;
pub use jobs::{
    DelayedRun, DueTime, JobAction, MAX_DELAY_SECONDS, PreviewRequest, RunLaterRequest, RunRequest, repeated_params,
    repeated_parts,
};
pub use limits::run_limits::{LimitLine, LimitUse};
pub use maintenance_windows::{MAX_WINDOW_MINUTES, PlannedWindow, WindowRequest};
pub use pauses::{PAUSE_NOTE_CHARS, PauseRequest};
pub use run_killer::KillResult;
pub use runs::{FoundRun, NOTE_CHARS};
