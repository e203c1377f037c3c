//! Summaries of runs, which outlive the runs.

pub const TABLES: &[&str] = &[
    // Of each job, and under `-app_id` of all jobs of an app. day: days since 1970-01-01, UTC.
    "CREATE TABLE report_day (day INTEGER NOT NULL, job_id BIGINT NOT NULL, app_id BIGINT NOT NULL, succeeded BIGINT NOT NULL, \
     failed BIGINT NOT NULL, killed BIGINT NOT NULL, cancelled BIGINT NOT NULL, doubtful BIGINT NOT NULL, times {long} NOT NULL, \
     PRIMARY KEY (day, job_id)){clustered}",
    "CREATE INDEX report_day_job ON report_day (job_id, day)",
    "CREATE INDEX report_day_app ON report_day (app_id, day)",
    // Of all jobs of an app. hour: hours since 1970-01-01.
    "CREATE TABLE report_hour (hour INTEGER NOT NULL, app_id BIGINT NOT NULL, succeeded BIGINT NOT NULL, failed BIGINT NOT NULL, \
     killed BIGINT NOT NULL, cancelled BIGINT NOT NULL, doubtful BIGINT NOT NULL, PRIMARY KEY (hour, app_id)){clustered}",
    // Runs below the cursor that had not ended when it passed them.
    "CREATE TABLE report_open (run_id {id}, is_doubtful BOOLEAN NOT NULL){table}",
    // Runs up to run_id are in the summaries, or in report_open.
    "CREATE TABLE report_cursor (id {id}, run_id BIGINT NOT NULL, round BIGINT NOT NULL){table}",
    "INSERT INTO report_cursor (id, run_id, round) SELECT 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM report_cursor)",
    // Jobs whose last run failed, however long ago. run_id: that run. failures: failed runs since the last success.
    "CREATE TABLE report_failing (job_id {id}, run_id BIGINT NOT NULL, failures BIGINT NOT NULL){table}",
    // The last failed runs of each job, as many as the rules keep, and a hundred at least.
    "CREATE TABLE last_failure (run_id {id}, job_id BIGINT NOT NULL){table}",
    "CREATE INDEX last_failure_job ON last_failure (job_id, run_id)",
];
