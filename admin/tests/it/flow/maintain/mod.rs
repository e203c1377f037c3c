//! What looks after the rest: alarms, the gap audit, explanations, pruning.

mod app_metrics;
mod attention;
mod candidate_sets;
mod explain;
mod gaps;
mod job_pauses;
mod monitoring;
mod prune;
mod reports;
mod zones;
