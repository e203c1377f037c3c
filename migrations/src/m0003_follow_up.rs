//! What follows from the end of a run: which runs have followers, and which ends wait for what follows.

pub const STATEMENTS: &[&[&str]] = &[&[
    // Bits: 1 the job's next fire is counted from this run's end, 2 the job has children, 256 failures in a row are counted. In the
    // place of run.chained, run.parent and job.parent, which are not read any more.
    "ALTER TABLE run ADD COLUMN follow SMALLINT NOT NULL DEFAULT 0",
    "UPDATE run SET follow = CASE WHEN chained = TRUE THEN 1 ELSE 0 END + CASE WHEN parent = TRUE THEN 258 ELSE 0 END \
     WHERE state < 9 AND follow = 0",
    "ALTER TABLE job ADD COLUMN follow SMALLINT NOT NULL DEFAULT 0",
    "UPDATE job SET follow = CASE WHEN EXISTS (SELECT 1 FROM job_child WHERE job_child.job_id = job.id) THEN 2 ELSE 0 END \
     + CASE WHEN pause_after_failures > 0 THEN 256 ELSE 0 END WHERE follow = 0",
    // id: eight times the run, plus the kind: 1 the chain of a fixed delay, 2 children, 3 children after a late success. Written in the
    // transaction that ends the run, deleted in the one that does what follows.
    "CREATE TABLE follow_up (id {id}, run_id BIGINT NOT NULL, kind SMALLINT NOT NULL, job_id BIGINT NOT NULL, at BIGINT NOT NULL){table}",
    "CREATE INDEX follow_up_job ON follow_up (job_id)",
]];
