//! What became of one instant of one job.

mod explanation;
mod neighbours;
mod sentences;

pub use explanation::{ExplainedRun, Explanation, VERDICTS, Verdict, explain};
