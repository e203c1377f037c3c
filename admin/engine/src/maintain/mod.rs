//! What services do now and then: flags, alarms, the gap audit, calendars, time zone data, pruning, summaries for reports.

pub(crate) mod alarm_escalator;
pub(crate) mod audit_walk;
pub(crate) mod calendar_follower;
pub(crate) mod gap_auditor;
pub(crate) mod idle_sets;
pub(crate) mod limit_keeper;
pub(crate) mod overdue_flagger;
pub(crate) mod pause_refresher;
pub(crate) mod pruner;
pub(crate) mod retention_filter;
pub(crate) mod run_summarizer;
pub(crate) mod zone_follower;
