//! What is learned about runs, and what came of storing it.

use std::collections::BTreeSet;
use std::sync::Arc;

use carillon_scheduler::{Millis, RunEvent, RunReason, RunState};

use crate::alarm::alarms::Alarm;

/// Something that was learned about a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub run_id: i64,
    pub event: RunEvent,
    /// The wire's code: 200, 500, 502 …; None where no executor has said anything.
    pub code: Option<i32>,
    pub message: Option<String>,
    /// None for a success.
    pub reason: Option<RunReason>,
    /// When the request left, if this process knows.
    pub sent_at: Option<Millis>,
    /// When the executor received the request, by its clock, if it has said so.
    pub received_at: Option<Millis>,
    /// The executor that reported it; None: this node found it out.
    pub reporter: Option<Arc<Reporter>>,
    /// A further attempt starts no earlier: the service has said when it will answer again.
    pub not_before: Option<Millis>,
}

impl RunReport {
    /// What this node finds out about a run.
    pub fn internal(run_id: i64, event: RunEvent, reason: RunReason, message: impl Into<String>) -> Self {
        Self::found(run_id, event, Some(reason), Some(message.into()))
    }

    /// The same where there may be no reason, as for a success, or nothing to say.
    pub fn found(run_id: i64, event: RunEvent, reason: Option<RunReason>, message: Option<String>) -> Self {
        Self {
            run_id,
            event,
            code: None,
            message,
            reason,
            sent_at: None,
            received_at: None,
            reporter: None,
            not_before: None,
        }
    }
}

/// A run whose request an executor has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedRun {
    pub run_id: i64,
    /// When its request left.
    pub sent_at: Millis,
    /// When the executor received it, by its clock, if it has said so.
    pub received_at: Option<Millis>,
}

impl AcceptedRun {
    /// One of which the time of receipt is not known.
    pub const fn sent(run_id: i64, sent_at: Millis) -> Self {
        Self { run_id, sent_at, received_at: None }
    }
}

/// The sender of results: they count for the runs that were sent to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reporter {
    pub token: ReporterToken,
    /// Set by executors with our SDK: the id of the process's start, and of the journal that keeps results across starts.
    pub boot_id: Option<String>,
    pub journal_id: Option<String>,
    /// The address that the request came from.
    pub source: String,
}

/// What a token allows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReporterToken {
    /// The token of all apps but these, which accept their own alone.
    Global { except: Arc<BTreeSet<i64>> },
    /// The token of one app.
    OfApp { token_id: i64, app_id: i64 },
}

impl ReporterToken {
    pub fn allows(&self, app_id: i64) -> bool {
        match self {
            Self::Global { except } => !except.contains(&app_id),
            Self::OfApp { app_id: own, .. } => *own == app_id,
        }
    }
}

/// How failures are followed up.
#[derive(Clone, Copy, Debug)]
pub struct SettleContext {
    pub now: Millis,
    /// In 0..1, new for each call: spreads the retries of runs that failed together.
    pub jitter: f64,
    /// The database went backwards and `resync` has not been called yet.
    pub restored: bool,
}

/// A run, its app, and who reported it.
pub type RefusedReport = (i64, i64, Option<Arc<Reporter>>);

/// What settling did, for the metrics and for waking the shards that have new work.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    pub changed: Vec<(i64, RunState)>,
    /// Alarms about runs whose failure is final.
    pub alarms: Vec<Alarm>,
    /// Shards with a new attempt.
    pub to_scan: Vec<i32>,
    /// Runs whose ends others follow: [`advance`](crate::run::advance) does it.
    pub followed: Vec<i64>,
    /// Runs whose slots of limits are free now.
    pub freed: Vec<i64>,
    /// Runs of which nothing is stored yet, because another session holds their row or their job's.
    pub held_up: Vec<i64>,
    /// Runs of which nothing can be stored, because their row cannot be read.
    pub unreadable: Vec<i64>,
    /// Runs that were reported and had never been sent. Nothing has changed.
    pub unsent: Vec<RefusedReport>,
    /// Runs that were reported by another executor than the one that they were sent to. Nothing has changed.
    pub foreign: Vec<RefusedReport>,
}

impl Settlement {
    pub fn add(&mut self, other: Self) {
        self.changed.extend(other.changed);
        self.alarms.extend(other.alarms);
        self.to_scan.extend(other.to_scan);
        self.followed.extend(other.followed);
        self.freed.extend(other.freed);
        self.held_up.extend(other.held_up);
        self.unreadable.extend(other.unreadable);
        self.unsent.extend(other.unsent);
        self.foreign.extend(other.foreign);
    }
}
