//! One run: its request, its metadata, its result; and which runs this executor has seen.

mod run;
mod seen_runs;
pub(crate) mod wall_clock;

pub(crate) use run::{Run, RunMeta};
pub(crate) use seen_runs::{MEMORY, MOST_OPEN, Phase, RecoveredRuns, SeenRuns};
