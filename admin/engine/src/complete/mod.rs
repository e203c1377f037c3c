//! Outcomes become results in the database, and reports are answered after the commit.

pub(crate) mod advancer;
pub(crate) mod completer;
pub(crate) mod effects;
pub(crate) mod followed_runs;
pub(crate) mod hide_secrets;
pub(crate) mod in_flight;
pub(crate) mod outcome_queue;
pub(crate) mod pending_outcomes;
pub(crate) mod refused_reports;
pub(crate) mod unmarker;
pub(crate) mod unsent;
