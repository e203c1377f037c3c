//! What became of one instant of one job.

mod action_words;
mod explanation;
mod neighbours;
mod sentences;

pub use action_words::{action_text, action_word};
pub use explanation::{ExplainedRun, Explanation, VERDICTS, Verdict, explain, places_of};
pub use sentences::waits_for;
