//! HTTP jobs: a request in place of a handler, and the secrets of apps that requests name.

pub const STATEMENTS: &[&[&str]] = &[&[
    // The request as JSON. NULL: the job has none.
    "ALTER TABLE job ADD COLUMN http {long}",
    // value: encrypted for its app and its name.
    "CREATE TABLE secret (app_id BIGINT NOT NULL, name VARCHAR(64) NOT NULL, value {long} NOT NULL, updated_at BIGINT NOT NULL, \
     PRIMARY KEY (app_id, name)){table}",
    // What an HTTP job sent and what came back, as the log of its run.
    "CREATE TABLE http_log (run_id BIGINT NOT NULL PRIMARY KEY, content {long} NOT NULL){table}",
]];
