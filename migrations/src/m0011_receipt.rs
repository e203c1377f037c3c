//! When executors receive runs, the traces that runs belong to, and what nodes know.

pub const STATEMENTS: &[&[&str]] = &[&[
    // When the executor received the request, by its own clock. NULL: it does not say so, or has not been asked.
    "ALTER TABLE run ADD COLUMN received_at BIGINT",
    // The W3C trace context of the request that asked for the run.
    "ALTER TABLE run_input ADD COLUMN traceparent VARCHAR(64)",
    // Words with commas between them. NULL: a node of an earlier version.
    "ALTER TABLE node ADD COLUMN features VARCHAR(255)",
]];
