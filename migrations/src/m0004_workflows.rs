//! Workflows: jobs with a graph of other jobs, and the progress of their runs.

pub const STATEMENTS: &[&[&str]] = &[&[
    // The graph that the job has now. NULL: the job is no workflow.
    "ALTER TABLE job ADD COLUMN graph_version BIGINT",
    // Never changed. version: milliseconds, greater than those of all earlier graphs of the job. graph: JSON, jobs by id.
    "CREATE TABLE workflow_graph (job_id BIGINT NOT NULL, version BIGINT NOT NULL, graph {long} NOT NULL, PRIMARY KEY (job_id, version)){table}",
    // The jobs that the current graph of a job runs.
    "CREATE TABLE workflow_use (job_id BIGINT NOT NULL, used_id BIGINT NOT NULL, PRIMARY KEY (job_id, used_id)){table}",
    "CREATE INDEX workflow_use_used ON workflow_use (used_id)",
    // Beside the run of a workflow. version: NULL before it has begun. again: which nodes of the prior run are repeated, as JSON. params:
    // those of the run, filled. held_at: a person holds it, nothing new starts.
    "CREATE TABLE workflow_run (run_id BIGINT NOT NULL PRIMARY KEY, job_id BIGINT NOT NULL, version BIGINT, prior_run_id BIGINT, again TEXT, \
     params {long}, timed_out BOOLEAN NOT NULL DEFAULT FALSE, held_at BIGINT, held_by VARCHAR(64)){table}",
    "CREATE INDEX workflow_run_graph ON workflow_run (job_id, version)",
    // The nodes of a run. first_run_id: the first run of the node's fire; NULL: it has none. decided: 0 by its fire, 1 a person has said
    // what became of it. prior_run_id: the run of a sub-workflow that this node's run goes on from.
    "CREATE TABLE workflow_node (run_id BIGINT NOT NULL, node INTEGER NOT NULL, job_id BIGINT NOT NULL, state SMALLINT NOT NULL, \
     decided SMALLINT NOT NULL DEFAULT 0, why VARCHAR(500), first_run_id BIGINT, prior_run_id BIGINT, result {long}, started_at BIGINT, \
     ended_at BIGINT, PRIMARY KEY (run_id, node)){table}",
]];
