//! Due jobs become claimed runs, and claimed runs wait in memory until their second.

pub(crate) mod adopt;
pub(crate) mod backfill_releaser;
pub(crate) mod batch_size;
pub(crate) mod claimer;
mod deferred_runs;
pub(crate) mod due_queue;
pub(crate) mod planner;
pub(crate) mod releaser;
pub(crate) mod scan_poller;
pub(crate) mod scanner;
pub(crate) mod scanner_pool;
pub(crate) mod wakes;
