//! Secrets in the parameters of jobs.

pub const STATEMENTS: &[&[&str]] = &[&[
    // The text repeats parameters that the job was saved with: placeholders of secrets count in it. In any other text that a run is
    // given they do not.
    "ALTER TABLE run_input ADD COLUMN repeats_saved BOOLEAN NOT NULL DEFAULT FALSE",
]];
