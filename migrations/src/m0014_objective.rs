//! The objective of a job: its runs start within a time after they were due.

pub const STATEMENTS: &[&[&str]] = &[&[
    // 0: none.
    "ALTER TABLE job ADD COLUMN start_within_seconds INTEGER NOT NULL DEFAULT 0",
    // In which shards there are jobs with an objective.
    "CREATE INDEX job_objective ON job (start_within_seconds, shard) WHERE start_within_seconds > 0",
]];
