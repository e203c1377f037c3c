//! Limits of how many runs are at work together, and the order of those that wait.

pub const STATEMENTS: &[&[&str]] = &[&[
    // app_id: 0: shared by all apps. key_path: of the member of the parameters whose values have slots of their own; empty: none.
    // all_jobs: it holds for all jobs of its app.
    "CREATE TABLE limit_rule (id {id}, app_id BIGINT NOT NULL, name VARCHAR(64) NOT NULL, max_runs INTEGER NOT NULL, \
     key_path VARCHAR(200) NOT NULL, all_jobs BOOLEAN NOT NULL, description {long} NOT NULL, version BIGINT NOT NULL, \
     created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX limit_rule_name ON limit_rule (app_id, name)",
    // A row is there while its run is sending or running. slot: 0 to max_runs - 1, so that the key keeps the limit.
    "CREATE TABLE limit_slot (limit_id BIGINT NOT NULL, slot_key BIGINT NOT NULL, slot INTEGER NOT NULL, run_id BIGINT NOT NULL, \
     taken_at BIGINT NOT NULL, PRIMARY KEY (limit_id, slot_key, slot)){clustered}",
    "CREATE INDEX limit_slot_run ON limit_slot (run_id)",
    // The names of limits as JSON. NULL: none.
    "ALTER TABLE job ADD COLUMN limits {long}",
    "ALTER TABLE job ADD COLUMN max_concurrent INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
    // Turns of its runs where runs of several apps wait for a limit.
    "ALTER TABLE app ADD COLUMN weight INTEGER NOT NULL DEFAULT 1",
    // In place of the priority of its job.
    "ALTER TABLE run_input ADD COLUMN priority INTEGER",
]];
