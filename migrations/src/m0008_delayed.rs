//! Delayed triggers: runs that are asked for and not due yet. They stay outside of `run`, whose open rows are read often.

pub const STATEMENTS: &[&[&str]] = &[&[
    // shard: of the job. id: of a sequence that begins behind all runs; the run has it as its fire_no. expires_at: later than this it does not run any
    // more; 0: it has no such time. Parameters and address are in run_input, under the same id.
    "CREATE TABLE delayed_trigger (shard INTEGER NOT NULL, due_at BIGINT NOT NULL, id BIGINT NOT NULL, job_id BIGINT NOT NULL, \
     expires_at BIGINT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (shard, due_at, id)){clustered}",
    "CREATE UNIQUE INDEX delayed_trigger_id ON delayed_trigger (id)",
    "CREATE INDEX delayed_trigger_job ON delayed_trigger (job_id, due_at, id)",
    // The key of a request for such triggers: how many it has recorded, object_id and the numbers behind it, and a digest of what was asked for.
    "ALTER TABLE idempotency ADD COLUMN items INTEGER",
    "ALTER TABLE idempotency ADD COLUMN digest VARCHAR(64)",
    // Of the run of such a trigger: it may wait for an executor after it is released.
    "ALTER TABLE run_input ADD COLUMN expires_at BIGINT",
]];
