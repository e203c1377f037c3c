//! Scripts of jobs, in versions, and the apps whose Java executors run them.

pub const STATEMENTS: &[&[&str]] = &[&[
    // NULL: the job has a handler.
    "ALTER TABLE job ADD COLUMN script_type VARCHAR(16)",
    // The current version of the script.
    "ALTER TABLE job ADD COLUMN script_version BIGINT",
    // Never changed. version: milliseconds, greater than those of all earlier versions of the job.
    "CREATE TABLE job_script (job_id BIGINT NOT NULL, version BIGINT NOT NULL, type VARCHAR(16) NOT NULL, source {long} NOT NULL, \
     sha256 VARCHAR(64) NOT NULL, bytes BIGINT NOT NULL, remark VARCHAR(100) NOT NULL, author VARCHAR(64) NOT NULL, \
     created_at BIGINT NOT NULL, PRIMARY KEY (job_id, version)){table}",
    // Executors of the app that announce nothing run scripts of every type.
    "ALTER TABLE app ADD COLUMN runs_scripts BOOLEAN NOT NULL DEFAULT FALSE",
]];
