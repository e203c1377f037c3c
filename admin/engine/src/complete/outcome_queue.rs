//! What waits to be written. Bounded by number and by bytes: beyond it executors keep their reports and repeat them. A report
//! stays when its request ends, as some clients send one only once; its repetition joins it instead of waiting a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Millis, RunEvent, RunReason};
use foldhash::HashMap;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::complete::in_flight::InFlight;
use crate::complete::unsent::UnsentRuns;
use crate::complete::unwritten::{Held, Hold};
use carillon_store::run::settle::finding::{Reporter, RunReport};
use carillon_store::run::settle::outcomes::may_fail;

/// Findings of one write.
pub const BATCH: usize = 500;

/// Findings that may wait, and the bytes of their texts.
const FINDINGS_WAITING: usize = 20_000;
const BYTES_WAITING: usize = 64 << 20;
/// Of both, what the findings may take that could not be written although others could.
const FINDINGS_PARKED: usize = FINDINGS_WAITING / 2;
const BYTES_PARKED: usize = BYTES_WAITING / 2;
/// How long a finding waits that could not be written although others could: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(40);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A result that still cannot be written then, for a reason that does not pass by itself, is given up.
const GIVE_UP: Duration = Duration::from_secs(600);
/// Runs of which the results failed alone.
const FAILURES_REMEMBERED: usize = 10_000;

/// What this node finds out about a run.
pub fn finding(run_id: i64, event: RunEvent, reason: RunReason, message: impl Into<String>) -> RunReport {
    RunReport {
        run_id,
        event,
        code: None,
        message: Some(message.into()),
        reason: Some(reason),
        sent_at: None,
        reporter: None,
    }
}

/// The result could not be stored: do not answer.
#[derive(Debug, thiserror::Error)]
#[error("the result could not be stored")]
pub struct ReportNotStored;

type Reply = oneshot::Sender<Result<(), ReportNotStored>>;
type Answer = oneshot::Receiver<Result<(), ReportNotStored>>;

/// Reports are written in two lanes, so that a success does not wait for the longer transaction of the failures before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Every finding is a success.
    Successes,
    Others,
}

/// Findings that were made together, and the requests that wait for them.
pub struct Report {
    pub findings: Vec<RunReport>,
    pub replies: Vec<Reply>,
    /// This node found it out: it comes once, and another finding about the same run does not replace it.
    is_own: bool,
    /// The last pause, if it had to wait.
    pause: Duration,
    not_before: Duration,
    _hold: Hold,
}

impl Report {
    fn of(findings: Vec<RunReport>, is_own: bool, held: &Held) -> Self {
        Self {
            _hold: held.hold(findings.iter().map(|it| it.run_id).collect()),
            findings,
            replies: vec![],
            is_own,
            pause: Duration::ZERO,
            not_before: Duration::ZERO,
        }
    }

    fn bytes(&self) -> usize {
        bytes(&self.findings)
    }

    fn lane(&self) -> Lane {
        match self.findings.iter().any(may_fail) {
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

/// A finding that could not be written although it was alone.
struct FailedAlone {
    since: Duration,
    again_at: Duration,
    pause: Duration,
}

/// What a failure of a finding that was written alone means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    First,
    Repeated,
    /// It failed for ten minutes: it is given up.
    Final,
}

/// A request that an executor has taken.
struct Accepted {
    sent_at: Millis,
    since: Duration,
}

/// Accepted runs that are written now, and when their requests left.
pub struct Ripe {
    pub runs: Vec<(i64, Millis)>,
    _hold: Hold,
}

type ReportKey = (i64, Option<Arc<Reporter>>);

fn key(finding: &RunReport) -> ReportKey {
    (finding.run_id, finding.reporter.clone())
}

fn bytes(findings: &[RunReport]) -> usize {
    let texts = findings.iter().filter_map(|it| it.message.as_deref());
    texts.map(str::len).sum()
}

#[derive(Default)]
struct PendingOutcomes {
    /// The node ends: no report is taken any more.
    closed: bool,
    /// By their place: the oldest first.
    successes: BTreeMap<u64, Report>,
    others: BTreeMap<u64, Report>,
    /// Those that could not be written while others could.
    parked: BTreeMap<u64, Report>,
    last_place: u64,
    /// The place of the report that has a run's result: one for each run and reporter. What another executor reports about the
    /// run does not stand for it.
    reported: HashMap<ReportKey, u64>,
    /// Findings in `successes`, `others` and `parked`, and the bytes of their texts.
    count: usize,
    bytes: usize,
    /// Of `parked` alone.
    parked_count: usize,
    parked_bytes: usize,
    /// By run.
    failed: HashMap<i64, FailedAlone>,
    accepted: HashMap<i64, Accepted>,
}

impl PendingOutcomes {
    fn add(&mut self, report: Report, is_parked: bool) {
        self.last_place += 1;
        let place = self.last_place;
        self.count += report.findings.len();
        self.bytes += report.bytes();
        if !report.is_own {
            let runs = report.findings.iter().map(|it| (key(it), place));
            self.reported.extend(runs);
        }
        if is_parked {
            self.parked_count += report.findings.len();
            self.parked_bytes += report.bytes();
            self.parked.insert(place, report);
        } else {
            self.lane(report.lane()).insert(place, report);
        }
    }

    fn lane(&mut self, lane: Lane) -> &mut BTreeMap<u64, Report> {
        match lane {
            Lane::Successes => &mut self.successes,
            Lane::Others => &mut self.others,
        }
    }

    /// Those that have waited long enough come back into their lanes.
    fn unpark(&mut self, now: Duration) {
        let is_ripe = |_: &u64, report: &mut Report| report.not_before <= now;
        let ripe: Vec<(u64, Report)> = self.parked.extract_if(.., is_ripe).collect();
        for (place, report) in ripe {
            self.parked_count -= report.findings.len();
            self.parked_bytes -= report.bytes();
            self.lane(report.lane()).insert(place, report);
        }
    }

    /// Whether these may wait beside what could not be written either.
    fn may_park(&self, findings: &[RunReport]) -> bool {
        let (count, bytes) = (self.parked_count + findings.len(), self.parked_bytes + bytes(findings));
        self.parked.is_empty() || (count <= FINDINGS_PARKED && bytes <= BYTES_PARKED)
    }

    fn take_first(&mut self, lane: Lane) -> Option<Report> {
        let (_, report) = self.lane(lane).pop_first()?;
        self.count -= report.findings.len();
        self.bytes -= report.bytes();
        if !report.is_own {
            for finding in &report.findings {
                self.reported.remove(&key(finding));
            }
        }
        Some(report)
    }

    fn at(&mut self, place: u64) -> Option<&mut Report> {
        let lanes = [&mut self.parked, &mut self.successes, &mut self.others];
        lanes.into_iter().find_map(|lane| lane.get_mut(&place))
    }
}

/// What waits to be written.
#[derive(Default)]
pub struct OutcomeQueue {
    work: Mutex<PendingOutcomes>,
    held: Held,
    pub in_flight: InFlight,
    pub unsent: UnsentRuns,
    /// Something waits that is no report of successes.
    pub wake: Arc<Notify>,
    /// A report of successes waits.
    pub wake_successes: Arc<Notify>,
}

impl OutcomeQueue {
    /// Results reported by an executor; answers after the commit.
    pub async fn report(&self, findings: Vec<RunReport>) -> Result<(), ReportNotStored> {
        let has_failures = findings.iter().any(may_fail);
        let answers = self.take_in(findings)?;
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
    fn take_in(&self, findings: Vec<RunReport>) -> Result<Vec<Answer>, ReportNotStored> {
        let mut work = self.work.lock();
        let waits = |finding: &RunReport| work.reported.contains_key(&key(finding));
        let (again, fresh): (Vec<_>, Vec<_>) = findings.into_iter().partition(waits);
        let is_full = work.count + fresh.len() > FINDINGS_WAITING || work.bytes + bytes(&fresh) > BYTES_WAITING;
        // One report alone is always taken, however large it is.
        if work.closed || (is_full && !fresh.is_empty() && work.count > 0) {
            return Err(ReportNotStored);
        }
        let mut answers = Vec::new();
        let places = again.iter().filter_map(|it| work.reported.get(&key(it)));
        for place in places.copied().collect::<BTreeSet<u64>>() {
            if let Some(report) = work.at(place) {
                let (reply, answer) = oneshot::channel();
                report.add(reply);
                answers.push(answer);
            }
        }
        if !fresh.is_empty() {
            let (reply, answer) = oneshot::channel();
            let mut report = Report::of(fresh, false, &self.held);
            report.add(reply);
            work.add(report, false);
            answers.push(answer);
        }
        Ok(answers)
    }

    /// From now on reports are refused at once: no service would write them.
    pub fn close(&self) {
        self.work.lock().closed = true;
    }

    /// What this node found out itself; kept until it is written.
    pub fn report_own(&self, finding: RunReport) {
        let report = Report::of(vec![finding], true, &self.held);
        self.work.lock().add(report, false);
        self.wake.notify_one();
    }

    pub fn accepted(&self, run_id: i64, sent_at: Millis, now: Duration) {
        let accepted = Accepted { sent_at, since: now };
        let mut work = self.work.lock();
        let is_first = work.accepted.is_empty();
        work.accepted.insert(run_id, accepted);
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
        let waits = |report: &Report| {
            let mut findings = report.findings.iter();
            findings.any(|finding| !work.failed.contains_key(&finding.run_id))
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
    pub fn take_reports(&self, lane: Lane, now: Duration) -> Vec<Report> {
        let mut work = self.work.lock();
        work.unpark(now);
        let (mut taken, mut count) = (Vec::new(), 0);
        while count < BATCH
            && let Some(report) = work.take_first(lane)
        {
            count += report.findings.len();
            taken.push(report);
        }
        taken
    }

    /// A report of which these findings could not be written. It waits behind the others, if there is room: what a held job has
    /// too much of stays with its executors, which repeat it, and leaves the others' places free. Results that have been
    /// repeated while they were written wait as their repetition.
    pub fn park(&self, mut report: Report, findings: Vec<RunReport>, now: Duration) {
        let mut work = self.work.lock();
        let is_repeated = |it: &RunReport| !report.is_own && work.reported.contains_key(&key(it));
        let (again, left): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_repeated);
        match &again[..] {
            [] => {}
            [one] if left.is_empty() => {
                let place = work.reported[&key(one)];
                if let Some(other) = work.at(place) {
                    other.replies.append(&mut report.replies);
                }
            }
            _ => report.reply(false),
        }
        if left.is_empty() || !(report.is_own || work.may_park(&left)) {
            return report.reply(false);
        }
        report.findings = left;
        report.pause = (report.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        report.not_before = now + report.pause;
        work.add(report, true);
    }

    /// A finding of this run has failed alone. `passes`: for a reason that may pass by itself.
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

    /// A finding of this run has failed alone; true: it may be tried again now.
    pub fn retry_due(&self, run_id: i64, now: Duration) -> Option<bool> {
        let work = self.work.lock();
        work.failed.get(&run_id).map(|it| it.again_at <= now)
    }

    /// Notes when the requests of accepted runs left: that they were accepted need not be written any more.
    pub fn take_accepted_of(&self, findings: &mut [RunReport]) {
        let mut work = self.work.lock();
        for finding in findings {
            let accepted = work.accepted.remove(&finding.run_id);
            finding.sent_at = finding.sent_at.or(accepted.map(|it| it.sent_at));
        }
    }

    pub fn take_accepted(&self, before: Duration) -> Ripe {
        let mut work = self.work.lock();
        let ripe = work.accepted.extract_if(|_, it| it.since <= before);
        let runs: Vec<(i64, Millis)> = ripe.map(|(run_id, it)| (run_id, it.sent_at)).collect();
        let hold = self.held.hold(runs.iter().map(|(run_id, _)| *run_id).collect());
        Ripe { runs, _hold: hold }
    }
}

#[cfg(test)]
#[path = "outcome_queue_tests.rs"]
mod tests;
