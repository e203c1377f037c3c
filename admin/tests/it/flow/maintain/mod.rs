//! What looks after the rest: alarms, the gap audit, explanations, pruning.

mod app_metrics;
mod candidate_sets;
mod declared;
mod explain;
mod gaps;
mod job_pauses;
mod late_starts;
mod monitoring;
mod overdue_runs;
mod prune;
mod reports;
mod zones;
