//! The logs of runs: `<data>/logs/<yyyy-MM-dd>/<run>.log`, the day in UTC and by the run's due time.
//!
//! Paths are made of integers only. A file is used only if its canonical path lies below the folder, so a symbolic
//! link cannot lead out of it.

mod job_logs;
mod make_room;
mod prune;
mod read;
mod write;

pub(crate) use job_logs::JobLogs;
pub(crate) use write::RunLog;
