//! Jobs that programs declare in their code.

pub const STATEMENTS: &[&[&str]] = &[&[
    // The digest of the declaration that the executor has announced.
    "ALTER TABLE executor ADD COLUMN declared VARCHAR(64)",
    // What becomes of the app's declarations: off, report, apply.
    "ALTER TABLE app ADD COLUMN declarations VARCHAR(16) NOT NULL DEFAULT 'report'",
    // One row for each build that has declared jobs. definition: as it was sent.
    "CREATE TABLE declaration (app_id BIGINT NOT NULL, digest VARCHAR(64) NOT NULL, build VARCHAR(255) NOT NULL, first_seen_at BIGINT NOT NULL, \
     last_seen_at BIGINT NOT NULL, definition {long} NOT NULL, PRIMARY KEY (app_id, digest)){table}",
    // was: the key that it had in earlier builds, empty if it had no other. job_id: NULL if there is no job for it. code: what the code says of it now, base: the definition when the mechanism wrote it last; both
    // JSON. report: the members that differ, JSON. changed_at: since when it is in this state. orphan_at: since when no declaration has the key.
    "CREATE TABLE declared_job (app_id BIGINT NOT NULL, job_key VARCHAR(64) NOT NULL, was VARCHAR(64) NOT NULL, job_id BIGINT, state VARCHAR(16) NOT NULL, \
     build VARCHAR(255) NOT NULL, policy VARCHAR(16) NOT NULL, place VARCHAR(255) NOT NULL, code {long} NOT NULL, base {long} NOT NULL, \
     report {long} NOT NULL, problem {long} NOT NULL, changed_at BIGINT NOT NULL, orphan_at BIGINT, PRIMARY KEY (app_id, job_key)){table}",
    "CREATE INDEX declared_job_job ON declared_job (job_id)",
]];
