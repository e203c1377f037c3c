//! Jobs that one executor fires by itself: the leases of their loops.

pub const STATEMENTS: &[&[&str]] = &[&[
    // How much of its fires is recorded: durable, best_effort.
    "ALTER TABLE job ADD COLUMN durability VARCHAR(16) NOT NULL DEFAULT 'durable'",
    // shard: of the job. is_wanted: the job is enabled, so that an executor is to have its loop. epoch: grows with each grant and with each stop.
    // app_id, address and boot_id: of the executor that got it last. is_stopped: that grant was ended, by a change or by its executor.
    // expires_at: the end of the lease, by the database's clock; no executor gets the loop before. 0: nothing has to be waited for.
    // alarmed_at: when its alarm was raised that is still open; 0: there is none.
    // counters: the sums of the grants before this one, report: the last report of this one; both JSON, empty: there is none.
    "CREATE TABLE loop_lease (job_id {id}, shard INTEGER NOT NULL, is_wanted BOOLEAN NOT NULL, epoch BIGINT NOT NULL, \
     app_id BIGINT NOT NULL, address VARCHAR(255) NOT NULL, boot_id VARCHAR(64) NOT NULL, is_stopped BOOLEAN NOT NULL, expires_at BIGINT NOT NULL, granted_at BIGINT NOT NULL, \
     reported_at BIGINT NOT NULL, counters {long} NOT NULL, report {long} NOT NULL, alarmed_at BIGINT NOT NULL DEFAULT 0){table}",
    "CREATE INDEX loop_lease_shard ON loop_lease (shard, expires_at)",
]];
