//! Jobs: definition, cursor, labels, children, calendars, backfills.

pub const TABLES: &[&str] = &[
    // schedule_text: the schedule as the API spells it. set_name: the set of files that defines it. resume_from_at: the cursor of a job that the
    // engine paused. spread_offset: seconds within the schedule's spread. fires_left NULL: without a limit. parent: the job has children. flag_after_seconds 0:
    // the server's setting. pause_after_failures 0: never.
    "CREATE TABLE job (id {id}, app_id BIGINT NOT NULL, job_key VARCHAR(64), set_name VARCHAR(64), shard INTEGER NOT NULL, name VARCHAR(255) NOT NULL, \
     handler VARCHAR(255) NOT NULL, schedule_kind VARCHAR(32) NOT NULL, schedule_text {long} NOT NULL, anchor_at BIGINT NOT NULL, \
     spread_offset INTEGER NOT NULL DEFAULT 0, fires_left INTEGER, catch_up VARCHAR(32) NOT NULL, misfire VARCHAR(32) NOT NULL, \
     misfire_threshold_ms BIGINT NOT NULL, misfire_limit INTEGER NOT NULL DEFAULT 100, misfire_window_ms BIGINT NOT NULL DEFAULT 3600000, \
     route VARCHAR(32) NOT NULL, route_labels VARCHAR(255) NOT NULL DEFAULT '', block VARCHAR(32) NOT NULL, \
     overlap VARCHAR(32) NOT NULL DEFAULT 'allow', overlap_queue INTEGER NOT NULL DEFAULT 10, timeout_seconds INTEGER NOT NULL, \
     retries INTEGER NOT NULL, retry_delay VARCHAR(1024) NOT NULL DEFAULT 'exponential 5 300', parent BOOLEAN NOT NULL DEFAULT FALSE, \
     flag_after_seconds INTEGER NOT NULL DEFAULT 0, pause_after_failures INTEGER NOT NULL DEFAULT 0, takes_result BOOLEAN NOT NULL DEFAULT TRUE, enabled BOOLEAN NOT NULL, \
     paused_reason VARCHAR(500), resume_from_at BIGINT, revision BIGINT NOT NULL, created_at BIGINT NOT NULL, \
     updated_at BIGINT NOT NULL){table}",
    "CREATE INDEX job_app ON job (app_id)",
    "CREATE UNIQUE INDEX job_key ON job (app_id, job_key) WHERE job_key IS NOT NULL",
    "CREATE INDEX job_name ON job (name, id)",
    // Fixed delays whose chain has broken are looked for.
    "CREATE INDEX job_kind ON job (schedule_kind, shard)",
    // `job_kind` of the other databases ends with the job's id already.
    "postgres: CREATE INDEX job_delayed ON job (shard, id) WHERE schedule_kind = 'fixed_delay'",
    // Partial: an edit of any other job costs nothing.
    "sqlite postgres: CREATE INDEX job_paused ON job (id) WHERE enabled = FALSE",
    "mysql: CREATE INDEX job_paused ON job (enabled)",
    "sqlite postgres: CREATE INDEX job_stopped ON job (updated_at) WHERE paused_reason IS NOT NULL",
    "mysql: CREATE INDEX job_stopped ON job (paused_reason(16))",
    "CREATE TABLE job_params (job_id {id}, params {long} NOT NULL){table}",
    // Parameters of earlier revisions: a run names the revision that it was sent with. revision: the last one with these
    // parameters. runs_to: no run with a greater id was sent with them.
    "CREATE TABLE job_params_history (job_id BIGINT NOT NULL, revision BIGINT NOT NULL, params {long} NOT NULL, runs_to BIGINT NOT NULL, \
     PRIMARY KEY (job_id, revision)){table}",
    // One row for each enabled job that fires again, and nothing that a scan does not need. delayed_job: the job's id again, in the
    // rows of fixed delays alone; an index of all jobs would cost each claim scattered pages.
    "CREATE TABLE job_clock (shard INTEGER NOT NULL, next_fire_at BIGINT NOT NULL, job_id BIGINT NOT NULL, revision BIGINT NOT NULL, \
     delayed_job BIGINT, PRIMARY KEY (shard, next_fire_at, job_id)){clustered}",
    "CREATE INDEX job_clock_delayed ON job_clock (delayed_job) WHERE delayed_job IS NOT NULL",
    // Jobs of other schedulers. stored_digest NULL: the job is not stored yet, and its number is kept for it.
    "CREATE TABLE import_origin (source VARCHAR(64) NOT NULL, source_id BIGINT NOT NULL, job_id BIGINT NOT NULL, digest VARCHAR(64) NOT NULL, \
     stored_digest VARCHAR(64), PRIMARY KEY (source, source_id)){table}",
    "CREATE INDEX import_origin_job ON import_origin (job_id)",
    // What the last import said, as JSON.
    "CREATE TABLE import_report (source VARCHAR(64) NOT NULL PRIMARY KEY, imported_at BIGINT NOT NULL, report {long} NOT NULL){table}",
    "CREATE TABLE job_child (job_id BIGINT NOT NULL, position INTEGER NOT NULL, child_id BIGINT NOT NULL, \
     PRIMARY KEY (job_id, position)){table}",
    "CREATE INDEX job_child_child ON job_child (child_id)",
    // unrouted_at: no alert rule has looked at the range yet.
    "CREATE TABLE misfire (job_id BIGINT NOT NULL, from_at BIGINT NOT NULL, to_at BIGINT NOT NULL, count INTEGER NOT NULL, \
     policy VARCHAR(32) NOT NULL, reason VARCHAR(32) NOT NULL, epoch BIGINT NOT NULL, unrouted_at BIGINT, \
     PRIMARY KEY (job_id, from_at)){table}",
    "CREATE INDEX misfire_from ON misfire (from_at)",
    "CREATE INDEX misfire_unrouted ON misfire (unrouted_at) WHERE unrouted_at > 0",
];

/// Beside the job's row, which each claim reads. Each table has rows only of the jobs that need one.
pub const NOTES: &[&str] = &[
    // tags: as a list is read; a tag is looked up in job_tag.
    "CREATE TABLE job_label (job_id {id}, description VARCHAR(1000) NOT NULL, owner VARCHAR(100) NOT NULL, tags VARCHAR(400) NOT NULL){table}",
    "CREATE INDEX job_label_owner ON job_label (owner)",
    "CREATE TABLE job_tag (tag VARCHAR(32) NOT NULL, job_id BIGINT NOT NULL, PRIMARY KEY (tag, job_id)){clustered}",
    "CREATE INDEX job_tag_job ON job_tag (job_id)",
    // resume_from_at: the first instant that the end of the pause, if it comes by itself, makes up for.
    "CREATE TABLE job_pause (job_id {id}, note VARCHAR(500) NOT NULL, author VARCHAR(64) NOT NULL, paused_at BIGINT NOT NULL, \
     ends_at BIGINT, resume_from_at BIGINT){table}",
    "CREATE INDEX job_pause_end ON job_pause (ends_at) WHERE ends_at IS NOT NULL",
    // Only jobs that are to be paused after failures and whose last fire failed.
    "CREATE TABLE job_failure (job_id {id}, failures INTEGER NOT NULL, fire_no BIGINT NOT NULL){table}",
];

pub const CALENDARS: &[&str] = &[
    "CREATE TABLE calendar (id {id}, name VARCHAR(64) NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL, \
     updated_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX calendar_name ON calendar (name)",
    // Never changed. definition: the calendar as the API spells it.
    "CREATE TABLE calendar_version (calendar_id BIGINT NOT NULL, version BIGINT NOT NULL, definition {long} NOT NULL, \
     created_at BIGINT NOT NULL, actor VARCHAR(64) NOT NULL, PRIMARY KEY (calendar_id, version)){table}",
    // The version that the job's present revision is planned with; behind the calendar's own until the job is planned again.
    "CREATE TABLE job_calendar (job_id BIGINT NOT NULL, calendar_id BIGINT NOT NULL, version BIGINT NOT NULL, \
     PRIMARY KEY (job_id, calendar_id)){table}",
    "CREATE INDEX job_calendar_calendar ON job_calendar (calendar_id, version)",
];

/// Runs for past instants, released at a bounded pace.
pub const BACKFILLS: &[&str] = &[
    // passed_at: every instant up to it has its run. skipped: the number that had one already, from an earlier backfill.
    "CREATE TABLE backfill (id {id}, job_id BIGINT NOT NULL, from_at BIGINT NOT NULL, to_at BIGINT NOT NULL, \
     max_concurrent INTEGER NOT NULL, instants INTEGER NOT NULL, released INTEGER NOT NULL, skipped INTEGER NOT NULL, \
     passed_at BIGINT NOT NULL, created_at BIGINT NOT NULL, finished_at BIGINT, cancelled BOOLEAN NOT NULL){table}",
    "CREATE INDEX backfill_job ON backfill (job_id)",
    "CREATE INDEX backfill_finished ON backfill (finished_at)",
    // As the schedule was when the backfill was asked for: later edits change nothing. Deleted when the backfill has finished.
    "CREATE TABLE backfill_instant (backfill_id BIGINT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (backfill_id, at)){clustered}",
    // Instants whose backfill runs are deleted: a further backfill leaves them out all the same.
    "CREATE TABLE backfill_done (job_id BIGINT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (job_id, at)){clustered}",
];
