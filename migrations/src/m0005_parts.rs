//! Static parts: fires of a job that are split into a fixed number of runs, each with parameters of its own if the job lists them.

pub const STATEMENTS: &[&[&str]] = &[&[
    // 1: each fire is one run.
    "ALTER TABLE job ADD COLUMN parts INTEGER NOT NULL DEFAULT 1",
    // The parameters of each part, of jobs that list them.
    "CREATE TABLE job_part (job_id BIGINT NOT NULL, part INTEGER NOT NULL, params {long} NOT NULL, PRIMARY KEY (job_id, part)){clustered}",
    // How many parts were asked for with this fire, and their parameters as a JSON list. NULL: as the job says.
    "ALTER TABLE run_input ADD COLUMN parts INTEGER",
    "ALTER TABLE run_input ADD COLUMN part_params {long}",
    // TRUE: params are those of this part, from a list; no other part of the fire has them.
    "ALTER TABLE run_input ADD COLUMN is_of_part BOOLEAN NOT NULL DEFAULT FALSE",
]];
