//! One run: its request, its metadata, its result; and which runs this executor has seen.

mod meta;
mod recovered_runs;
mod run;
mod seen_runs;
pub(crate) mod wall_clock;

pub(crate) use meta::RunMeta;
pub(crate) use recovered_runs::RecoveredRuns;
pub(crate) use run::Run;
pub(crate) use seen_runs::{MEMORY, MOST_OPEN, Phase, SeenRuns};
