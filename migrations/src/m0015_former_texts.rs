//! Long texts of former definitions, of which the audit keeps only the beginning.

pub const STATEMENTS: &[&[&str]] = &[&[
    // When they were replaced. 0: the audit keeps them whole, so they are needed only while a run names them.
    "ALTER TABLE job_params_history ADD COLUMN replaced_at BIGINT NOT NULL DEFAULT 0",
    // Lists of parts. revision: the last one with this list. params: its texts, as JSON.
    "CREATE TABLE job_part_history (job_id BIGINT NOT NULL, revision BIGINT NOT NULL, params {long} NOT NULL, replaced_at BIGINT NOT NULL, \
     PRIMARY KEY (job_id, revision)){table}",
]];
