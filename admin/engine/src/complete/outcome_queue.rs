//! What waits to be written. Bounded by number and by bytes: beyond it executors keep their reports and repeat them. A report
//! stays when its request ends, as some clients send one only once; its repetition joins it instead of waiting a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{RunEvent, RunReason};
use foldhash::HashMap;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::complete::in_flight::InFlight;
use crate::complete::pending_outcomes::{PendingGuard, PendingOutcomes};
use crate::complete::unsent::UnsentRuns;
use carillon_store::run::settle::finding::{AcceptedRun, Reporter, RunReport};
use carillon_store::run::settle::outcomes::may_fail;

/// Reports of one write.
pub const BATCH: usize = 500;

/// Reports that may wait, and the bytes of their texts.
const REPORTS_WAITING: usize = 20_000;
const BYTES_WAITING: usize = 64 << 20;
/// Of both, what the reports may take that could not be written although others could.
const REPORTS_PARKED: usize = REPORTS_WAITING / 2;
const BYTES_PARKED: usize = BYTES_WAITING / 2;
/// How long a report waits that could not be written although others could: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(40);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A result that still cannot be written then, for a reason that does not pass by itself, is given up.
const GIVE_UP: Duration = Duration::from_secs(600);
/// Runs of which the results failed alone.
const FAILURES_REMEMBERED: usize = 10_000;

/// The result could not be stored: do not answer.
#[derive(Debug, thiserror::Error)]
#[error("the result could not be stored")]
pub struct ReportNotStored;

type Reply = oneshot::Sender<Result<(), ReportNotStored>>;
type Answer = oneshot::Receiver<Result<(), ReportNotStored>>;

/// Reports are written in two lanes, so that a success does not wait for the longer transaction of the failures before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Every report is a success.
    Successes,
    Others,
}

/// Reports that came together, and the requests that wait for them.
pub struct PendingReport {
    pub reports: Vec<RunReport>,
    pub replies: Vec<Reply>,
    /// This node found it out: it comes once, and another report about the same run does not replace it.
    is_internal: bool,
    /// The last pause, if it had to wait.
    pause: Duration,
    not_before: Duration,
    _hold: PendingGuard,
}

impl PendingReport {
    fn of(reports: Vec<RunReport>, is_internal: bool, held: &PendingOutcomes) -> Self {
        Self {
            _hold: held.hold(reports.iter().map(|it| it.run_id).collect()),
            reports,
            replies: vec![],
            is_internal,
            pause: Duration::ZERO,
            not_before: Duration::ZERO,
        }
    }

    fn bytes(&self) -> usize {
        bytes(&self.reports)
    }

    fn lane(&self) -> Lane {
        match self.reports.iter().any(may_fail) {
            true => Lane::Others,
            false => Lane::Successes,
        }
    }

    /// Another request waits for the same; those that have ended are forgotten.
    fn add(&mut self, reply: Reply) {
        self.replies.retain(|reply| !reply.is_closed());
        self.replies.push(reply);
    }

    pub fn forget_pause(&mut self) {
        self.pause = Duration::ZERO;
    }

    pub fn reply(&mut self, is_stored: bool) {
        for reply in self.replies.drain(..) {
            // A request that has ended hears nothing.
            let _ = reply.send(is_stored.then_some(()).ok_or(ReportNotStored));
        }
    }
}

/// A report that could not be written although it was alone.
struct FailedAlone {
    since: Duration,
    again_at: Duration,
    pause: Duration,
}

/// What a failure of a report that was written alone means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    First,
    Repeated,
    /// It failed for ten minutes: it is given up.
    Final,
}

/// A request that an executor has taken.
struct Accepted {
    run: AcceptedRun,
    since: Duration,
}

/// Accepted runs that are written now.
pub struct DueAcceptances {
    pub runs: Vec<AcceptedRun>,
    _hold: PendingGuard,
}

type ReportKey = (i64, Option<Arc<Reporter>>);

fn key(report: &RunReport) -> ReportKey {
    (report.run_id, report.reporter.clone())
}

fn bytes(reports: &[RunReport]) -> usize {
    let texts = reports.iter().filter_map(|it| it.message.as_deref());
    texts.map(str::len).sum()
}

#[derive(Default)]
struct QueueState {
    /// The node ends: no report is taken any more.
    closed: bool,
    /// By their place: the oldest first.
    successes: BTreeMap<u64, PendingReport>,
    others: BTreeMap<u64, PendingReport>,
    /// Those that could not be written while others could.
    parked: BTreeMap<u64, PendingReport>,
    last_place: u64,
    /// The place of the report that has a run's result: one for each run and reporter. What another executor reports about the
    /// run does not stand for it.
    reported: HashMap<ReportKey, u64>,
    /// Reports in `successes`, `others` and `parked`, and the bytes of their texts.
    count: usize,
    bytes: usize,
    /// Of `parked` alone.
    parked_count: usize,
    parked_bytes: usize,
    /// By run.
    failed: HashMap<i64, FailedAlone>,
    accepted: HashMap<i64, Accepted>,
}

impl QueueState {
    fn add(&mut self, pending: PendingReport, is_parked: bool) {
        self.last_place += 1;
        let place = self.last_place;
        self.count += pending.reports.len();
        self.bytes += pending.bytes();
        if !pending.is_internal {
            let runs = pending.reports.iter().map(|it| (key(it), place));
            self.reported.extend(runs);
        }
        if is_parked {
            self.parked_count += pending.reports.len();
            self.parked_bytes += pending.bytes();
            self.parked.insert(place, pending);
        } else {
            self.lane(pending.lane()).insert(place, pending);
        }
    }

    fn lane(&mut self, lane: Lane) -> &mut BTreeMap<u64, PendingReport> {
        match lane {
            Lane::Successes => &mut self.successes,
            Lane::Others => &mut self.others,
        }
    }

    /// Those that have waited long enough come back into their lanes.
    fn unpark(&mut self, now: Duration) {
        let is_due = |_: &u64, pending: &mut PendingReport| pending.not_before <= now;
        let due: Vec<(u64, PendingReport)> = self.parked.extract_if(.., is_due).collect();
        for (place, pending) in due {
            self.parked_count -= pending.reports.len();
            self.parked_bytes -= pending.bytes();
            self.lane(pending.lane()).insert(place, pending);
        }
    }

    /// Whether these may wait beside what could not be written either.
    fn may_park(&self, reports: &[RunReport]) -> bool {
        let (count, bytes) = (self.parked_count + reports.len(), self.parked_bytes + bytes(reports));
        self.parked.is_empty() || (count <= REPORTS_PARKED && bytes <= BYTES_PARKED)
    }

    fn take_first(&mut self, lane: Lane) -> Option<PendingReport> {
        let (_, pending) = self.lane(lane).pop_first()?;
        self.count -= pending.reports.len();
        self.bytes -= pending.bytes();
        if !pending.is_internal {
            for report in &pending.reports {
                self.reported.remove(&key(report));
            }
        }
        Some(pending)
    }

    fn at(&mut self, place: u64) -> Option<&mut PendingReport> {
        let lanes = [&mut self.parked, &mut self.successes, &mut self.others];
        lanes.into_iter().find_map(|lane| lane.get_mut(&place))
    }
}

/// What waits to be written.
#[derive(Default)]
pub struct OutcomeQueue {
    work: Mutex<QueueState>,
    held: PendingOutcomes,
    pub in_flight: InFlight,
    pub unsent: UnsentRuns,
    /// Something waits that is no report of successes.
    pub wake: Arc<Notify>,
    /// A report of successes waits.
    pub wake_successes: Arc<Notify>,
}

impl OutcomeQueue {
    /// Results reported by an executor; answers after the commit.
    pub async fn report(&self, reports: Vec<RunReport>) -> Result<(), ReportNotStored> {
        let has_failures = reports.iter().any(may_fail);
        let answers = self.enqueue(reports)?;
        match has_failures {
            true => self.wake.notify_one(),
            false => self.wake_successes.notify_one(),
        }
        for answer in answers {
            answer.await.unwrap_or(Err(ReportNotStored))?;
        }
        Ok(())
    }

    /// Results that wait already are not taken twice: their repetition waits with them.
    fn enqueue(&self, reports: Vec<RunReport>) -> Result<Vec<Answer>, ReportNotStored> {
        let mut work = self.work.lock();
        let waits = |report: &RunReport| work.reported.contains_key(&key(report));
        let (again, fresh): (Vec<_>, Vec<_>) = reports.into_iter().partition(waits);
        let is_full = work.count + fresh.len() > REPORTS_WAITING || work.bytes + bytes(&fresh) > BYTES_WAITING;
        // One report alone is always taken, however large it is.
        if work.closed || (is_full && !fresh.is_empty() && work.count > 0) {
            return Err(ReportNotStored);
        }
        let mut answers = Vec::new();
        let places = again.iter().filter_map(|it| work.reported.get(&key(it)));
        for place in places.copied().collect::<BTreeSet<u64>>() {
            if let Some(pending) = work.at(place) {
                let (reply, answer) = oneshot::channel();
                pending.add(reply);
                answers.push(answer);
            }
        }
        if !fresh.is_empty() {
            let (reply, answer) = oneshot::channel();
            let mut pending = PendingReport::of(fresh, false, &self.held);
            pending.add(reply);
            work.add(pending, false);
            answers.push(answer);
        }
        Ok(answers)
    }

    /// From now on reports are refused at once: no service would write them.
    pub fn close(&self) {
        self.work.lock().closed = true;
    }

    /// What this node finds out about a run.
    pub fn report_internal(&self, run_id: i64, event: RunEvent, reason: RunReason, message: impl Into<String>) {
        self.enqueue_internal(RunReport::internal(run_id, event, reason, message));
    }

    /// Kept until it is written.
    pub fn enqueue_internal(&self, report: RunReport) {
        let pending = PendingReport::of(vec![report], true, &self.held);
        self.work.lock().add(pending, false);
        self.wake.notify_one();
    }

    pub fn accepted(&self, run: AcceptedRun, now: Duration) {
        let accepted = Accepted { run, since: now };
        let mut work = self.work.lock();
        let is_first = work.accepted.is_empty();
        work.accepted.insert(run.run_id, accepted);
        drop(work);
        if is_first {
            self.wake.notify_one();
        }
    }

    /// An outcome of this run waits here, or is being written.
    fn holds(&self, run_id: i64) -> bool {
        // In this order: an accepted run is held before it leaves its place.
        self.work.lock().accepted.contains_key(&run_id) || self.held.contains(run_id)
    }

    /// This process knows, or will know, what became of the run: after an outage of the database that may not be written yet.
    pub fn knows(&self, run_id: i64) -> bool {
        self.in_flight.contains(run_id) || self.holds(run_id) || self.unsent.contains(run_id)
    }

    pub fn is_empty(&self) -> bool {
        self.is_empty_but_accepted() && self.work.lock().accepted.is_empty()
    }

    /// What fails again and again is not waited for.
    pub fn is_empty_but_accepted(&self) -> bool {
        let work = self.work.lock();
        let waits = |pending: &PendingReport| {
            let mut reports = pending.reports.iter();
            reports.any(|report| !work.failed.contains_key(&report.run_id))
        };
        let is_written = work.successes.is_empty() && work.others.is_empty() && !work.parked.values().any(waits);
        is_written && self.unsent.is_empty()
    }

    pub fn has_reports(&self, lane: Lane) -> bool {
        !self.work.lock().lane(lane).is_empty()
    }

    /// Something waits for its moment: an accepted run, or a report that could not be written.
    pub fn has_waiting(&self) -> bool {
        let work = self.work.lock();
        !work.accepted.is_empty() || !work.parked.is_empty()
    }

    /// The oldest of a lane, and those of it that have waited long enough.
    pub fn take_reports(&self, lane: Lane, now: Duration) -> Vec<PendingReport> {
        let mut work = self.work.lock();
        work.unpark(now);
        let (mut taken, mut count) = (Vec::new(), 0);
        while count < BATCH
            && let Some(pending) = work.take_first(lane)
        {
            count += pending.reports.len();
            taken.push(pending);
        }
        taken
    }

    /// A pending report of which these reports could not be written. It waits behind the others, if there is room: what a held job has
    /// too much of stays with its executors, which repeat it, and leaves the others' places free. Results that have been
    /// repeated while they were written wait as their repetition.
    pub fn park(&self, mut pending: PendingReport, reports: Vec<RunReport>, now: Duration) {
        let mut work = self.work.lock();
        let is_repeated = |it: &RunReport| !pending.is_internal && work.reported.contains_key(&key(it));
        let (again, left): (Vec<_>, Vec<_>) = reports.into_iter().partition(is_repeated);
        match &again[..] {
            [] => {}
            [one] if left.is_empty() => {
                let place = work.reported[&key(one)];
                if let Some(other) = work.at(place) {
                    other.replies.append(&mut pending.replies);
                }
            }
            _ => pending.reply(false),
        }
        if left.is_empty() || !(pending.is_internal || work.may_park(&left)) {
            return pending.reply(false);
        }
        pending.reports = left;
        pending.pause = (pending.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        pending.not_before = now + pending.pause;
        work.add(pending, true);
    }

    /// A report about this run has failed alone. `passes`: for a reason that may pass by itself.
    pub fn record_failure(&self, run_id: i64, passes: bool, now: Duration) -> Failure {
        let mut work = self.work.lock();
        if work.failed.len() >= FAILURES_REMEMBERED {
            work.failed.clear();
        }
        let before = work.failed.get(&run_id).map(|it| (it.since, it.pause));
        let since = before.map_or(now, |(since, _)| since);
        if !passes && since + GIVE_UP <= now {
            // Kept: its repetition may come when nothing of it waits here any more, and is answered at its first try.
            work.failed.insert(run_id, FailedAlone { since, again_at: now, pause: FIRST_PAUSE });
            return Failure::Final;
        }
        let pause = (before.map_or(Duration::ZERO, |(_, pause)| pause) * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        work.failed.insert(run_id, FailedAlone { since, again_at: now + pause, pause });
        if before.is_some() { Failure::Repeated } else { Failure::First }
    }

    pub fn clear_failure(&self, run_id: i64) {
        self.work.lock().failed.remove(&run_id);
    }

    /// A report about this run has failed alone; true: it may be tried again now.
    pub fn retry_due(&self, run_id: i64, now: Duration) -> Option<bool> {
        let work = self.work.lock();
        work.failed.get(&run_id).map(|it| it.again_at <= now)
    }

    /// Notes when the requests of accepted runs left and were received: that they were accepted need not be written any more.
    pub fn take_accepted_of(&self, reports: &mut [RunReport]) {
        let mut work = self.work.lock();
        for report in reports {
            let Some(Accepted { run, .. }) = work.accepted.remove(&report.run_id) else { continue };
            report.sent_at = report.sent_at.or(Some(run.sent_at));
            report.received_at = report.received_at.or(run.received_at);
        }
    }

    pub fn take_accepted(&self, before: Duration) -> DueAcceptances {
        let mut work = self.work.lock();
        let due = work.accepted.extract_if(|_, it| it.since <= before);
        let runs: Vec<AcceptedRun> = due.map(|(_, it)| it.run).collect();
        let hold = self.held.hold(runs.iter().map(|run| run.run_id).collect());
        DueAcceptances { runs, _hold: hold }
    }
}

#[cfg(test)]
#[path = "outcome_queue_tests.rs"]
mod tests;
