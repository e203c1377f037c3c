//! Summaries of runs by day, job and app, and by hour and app: they outlive the runs.
//!
//! A cursor walks over the runs in the order of their ids, behind every id that a node may still insert (see
//! `ReportStore::run_ids_given`). A run that has ended is counted when the cursor passes it; one that has not is kept in `report_open`
//! until it has. Cursor, counts and open runs change in one transaction, so each run counts once. The pruner deletes no run that
//! is not counted.
//!
//! Nothing here is done by the transactions that settle runs.

mod buckets;
mod changes;
pub mod counts;
mod failing;
pub mod histogram;
mod last_failures;
pub(crate) mod prune;
pub mod read;
pub mod summarize;
