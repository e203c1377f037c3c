//! A run on its way to its executor: one form for each step, so that a step can be neither left out nor taken twice.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::route::Probe;
use carillon_scheduler::{Millis, Place, RouteStrategy, SlotKey};
use foldhash::HashMap;

use crate::dispatch::limits::line::Turn;
use crate::dispatch::overlap_tracker::Admission;
use crate::dispatch::route::decision::RouteDecision;
use crate::executor::address::gate::Reservation;
use crate::executor::directory::Candidate;
use crate::executor::secrets::SecretParams;
use crate::job_cache::CachedJob;
use carillon_store::job::job_row::GivenParams;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::expand::Expansion;
use carillon_store::run::route::RouteTrace;

/// Runs of one mark.
pub(in crate::dispatch) const BATCH: usize = 500;

/// The place of a run where runs wait in a line: a priority is a head start. It never changes, so what waits long enough goes first.
pub(in crate::dispatch) fn place_of(run: &ClaimedRun, job: &CachedJob) -> Place {
    (run.due_at - Millis::from(run.priority.unwrap_or(job.stored.priority)) * 1_000, run.run_id)
}

/// It may go now, as far as other fires of its job are concerned.
pub struct AdmittedRun {
    pub run: ClaimedRun,
    /// The definition of this tick: all later steps use it.
    pub job: Arc<CachedJob>,
    /// If its job does not allow its fires to overlap.
    pub admission: Option<Admission>,
    /// The slots of limits that its mark takes. None: it needs none, or its turn has not come.
    pub slots: Option<Arc<[SlotKey]>>,
    /// Its first turn at its limits. None: it has none, or its turn has not come.
    pub turn: Option<Turn>,
}

/// Its candidates are in the order in which they are tried.
pub struct OrderedRun {
    pub admitted: AdmittedRun,
    pub candidates: Vec<Candidate>,
    pub decision: RouteDecision,
}

/// Its first candidate counts it already; the others follow if nothing could be written to that one.
pub struct RoutedRun {
    pub run: ClaimedRun,
    pub admission: Option<Admission>,
    pub slots: Option<Arc<[SlotKey]>>,
    pub turn: Option<Turn>,
    pub candidates: Vec<Candidate>,
    pub reservation: Reservation,
    /// It waits behind others, and nothing moves there.
    pub is_stalled: bool,
    pub decision: RouteDecision,
}

impl RoutedRun {
    /// The slots that its mark takes.
    pub fn slots(&self) -> &[SlotKey] {
        self.slots.as_deref().unwrap_or_default()
    }
}

/// Its row says `sending`.
pub struct MarkedRun {
    pub routed: RoutedRun,
    pub stamp: MarkStamp,
    /// Those that it has in place of its job's.
    pub params: Option<GivenParams>,
    /// Its parameters with the secrets that they name, from the moment when it is due.
    pub secret_params: Option<Arc<SecretParams>>,
    /// The source of its job's script.
    pub script: Option<Arc<str>>,
}

/// What a mark has in common for its whole batch.
#[derive(Clone, Copy, Debug)]
pub struct MarkStamp {
    pub token: i64,
    pub marked_at: Millis,
    /// When the mark was asked for, on the monotonic clock.
    pub asked: Duration,
}

/// Where a run goes from the choice of its executor.
pub enum RouteStep {
    Ordered(OrderedRun),
    /// The candidates are to be asked first.
    Probe(Probe, Box<OrderedRun>),
    /// A fire whose parts are not fixed yet.
    Expand(AdmittedRun, Expansion),
    /// Again at a later tick.
    Wait(AdmittedRun),
    /// No candidate has room: again at a later tick.
    Full(AdmittedRun),
    /// Again after this many milliseconds.
    WaitFor(AdmittedRun, Millis),
    NoExecutor(AdmittedRun, String, Box<RouteTrace>),
}

impl RouteStep {
    pub fn admitted(&self) -> &AdmittedRun {
        match self {
            Self::Ordered(ordered) => &ordered.admitted,
            Self::Probe(_, ordered) => &ordered.admitted,
            Self::Wait(it) | Self::Full(it) | Self::WaitFor(it, _) => it,
            Self::Expand(it, _) | Self::NoExecutor(it, _, _) => it,
        }
    }

    pub fn into_admitted(self) -> AdmittedRun {
        match self {
            Self::Ordered(ordered) => ordered.admitted,
            Self::Probe(_, ordered) => ordered.admitted,
            Self::Wait(it) | Self::Full(it) | Self::WaitFor(it, _) => it,
            Self::Expand(it, _) | Self::NoExecutor(it, _, _) => it,
        }
    }
}

/// Apps of which no executor has had room in this tick. Where an app is flooded, thousands of its runs find no room with every
/// tick: only the first of them looks at each executor, as the look would be paid with the time of other apps. By id, with the name.
#[derive(Default)]
pub struct SaturatedApps(HashMap<i64, String>);

impl SaturatedApps {
    pub fn contains(&self, it: &AdmittedRun) -> bool {
        !self.0.is_empty() && self.0.contains_key(&it.job.stored.app_id) && is_unrestricted(it)
    }

    /// False: the run is bound to some of the executors, and its look holds for no other.
    pub fn add(&mut self, it: &AdmittedRun) -> bool {
        let holds_for_all = is_unrestricted(it);
        if holds_for_all {
            let app = &it.job.stored;
            self.0.entry(app.app_id).or_insert_with(|| app.app.clone());
        }
        holds_for_all
    }

    /// The app of this name is among them.
    pub fn has_named(&self, app: &str) -> bool {
        self.0.values().any(|name| name == app)
    }
}

/// The run goes to any executor of its app that has room, so what it finds holds for all of them.
fn is_unrestricted(it: &AdmittedRun) -> bool {
    // It goes to a service of its own, which says nothing of the executors of its app.
    if it.job.http.is_some() {
        return false;
    }
    let Ok(rules) = &it.job.rules else { return false };
    let is_narrow = it.run.bound_to.is_some() || !rules.route_labels.is_empty() || it.job.script_version().is_some();
    let is_plain = rules.route.probe().is_none() && rules.route != RouteStrategy::Broadcast;
    is_plain && !is_narrow && !rules.route.has_affinity()
}
