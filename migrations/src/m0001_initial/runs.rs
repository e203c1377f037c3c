//! Runs, how their executors were chosen, how long they are kept, and what is left of them afterwards.

pub const TABLES: &[&str] = &[
    // chained: the job's next fire is counted from this run's end. parent: the job has children. revision: the job's revision whose
    // definition was in the request; NULL: not marked yet. journal_id NULL: the executor keeps no journal. kill_agreed_at: the
    // executor has accepted the kill. flagged_at: when the run had waited for too long.
    "CREATE TABLE run (id {id}, job_id BIGINT NOT NULL, app_id BIGINT NOT NULL, shard INTEGER NOT NULL, cause SMALLINT NOT NULL, \
     fire_no BIGINT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL, attempt INTEGER NOT NULL, \
     scheduled_at BIGINT NOT NULL, due_at BIGINT NOT NULL, state SMALLINT NOT NULL, epoch BIGINT NOT NULL, \
     owner VARCHAR(64), mark_token BIGINT, marked_at BIGINT, sends INTEGER NOT NULL, address VARCHAR(255), boot_id VARCHAR(64), \
     sent_at BIGINT, reason VARCHAR(64), result_code INTEGER, result_msg {long}, kill_asked_at BIGINT, finished_at BIGINT, \
     chained BOOLEAN NOT NULL DEFAULT FALSE, candidates_id BIGINT, route_code SMALLINT, parent BOOLEAN NOT NULL DEFAULT FALSE, \
     kill_agreed_at BIGINT, flagged_at BIGINT, revision BIGINT, journal_id VARCHAR(64)){table}",
    "CREATE UNIQUE INDEX run_fire ON run (fire_no, job_id, cause, part, attempt)",
    "CREATE INDEX run_open ON run (shard, state, epoch, due_at) WHERE state < 9",
    // What was given by hand with a fire: rarely, and it may be large. rerun_of: the run that this one repeats.
    "CREATE TABLE run_input (run_id {id}, params {long}, address VARCHAR(255), rerun_of BIGINT){table}",
    "CREATE INDEX run_input_rerun ON run_input (rerun_of) WHERE rerun_of IS NOT NULL",
    // Of a job, of an app, of all. NULL: as the next wider scope says.
    "CREATE TABLE retention (scope VARCHAR(8) NOT NULL, scope_id BIGINT NOT NULL, days INTEGER, failure_days INTEGER, failures INTEGER, \
     runs INTEGER, updated_at BIGINT NOT NULL, PRIMARY KEY (scope, scope_id)){table}",
    // Deleted runs, by the day (UTC, from 1970-01-01) of their instant.
    "CREATE TABLE run_day (day INTEGER NOT NULL, job_id BIGINT NOT NULL, app_id BIGINT NOT NULL, succeeded BIGINT NOT NULL, \
     failed BIGINT NOT NULL, killed BIGINT NOT NULL, cancelled BIGINT NOT NULL, PRIMARY KEY (day, job_id)){table}",
    // The latest instant of a job's schedule whose record is deleted.
    "CREATE TABLE pruned (job_id {id}, runs_to BIGINT NOT NULL, misfires_to BIGINT NOT NULL){table}",
];

pub const ROUTING: &[&str] = &[
    // Where the runs of a job with the route `sticky` go; written when that changes.
    "CREATE TABLE sticky (job_id {id}, address VARCHAR(255) NOT NULL, chosen_at BIGINT NOT NULL){table}",
    // The executors that a run could have gone to. The id is a digest of the list, so that no query is needed to find it. used_at:
    // when a run last named the set; sets that no run names are deleted.
    "CREATE TABLE candidate_set (id {id}, addresses {long} NOT NULL, used_at BIGINT NOT NULL){table}",
    // Details of the routing: answers to probes, executors that were passed over, requests that were not written.
    "CREATE TABLE run_choice (run_id {id}, detail {long} NOT NULL){table}",
];
