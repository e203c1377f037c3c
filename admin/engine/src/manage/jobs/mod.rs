//! Definitions of jobs, and their runs on request.

mod best_effort;
mod bulk;
mod definitions;
mod delayed;
mod forbidden_children;
mod history;
mod known_secrets;
mod moved_links;
mod node_jobs;
mod older_nodes;
mod pause;
mod run;
mod scripts;
mod send_once;
mod validation;

pub use bulk::JobAction;
pub use definitions::PreviewRequest;
pub use delayed::{DelayedRun, DueTime, MAX_DELAY_SECONDS, RunLaterRequest};
pub use run::{RunRequest, repeated_params, repeated_parts};
