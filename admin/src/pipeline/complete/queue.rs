//! What waits to be written. Bounded by number and by bytes: beyond it executors keep their reports and repeat them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_scheduler::Millis;
use tokio::sync::{Notify, oneshot};

use super::BATCH;
use crate::store::settle::Finding;

/// Findings that may wait, and the bytes of their texts.
const FINDINGS_WAITING: usize = 20_000;
const BYTES_WAITING: usize = 64 << 20;
/// How long a finding waits that could not be written although others could: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(40);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Runs of which the results failed alone.
const FAILURES_REMEMBERED: usize = 10_000;

/// The result could not be stored: do not answer.
#[derive(Debug, thiserror::Error)]
#[error("the result could not be stored")]
pub struct NotStored;

pub type Reply = oneshot::Sender<Result<(), NotStored>>;

/// Findings that were made together, and the request that waits for them.
pub struct Report {
    pub findings: Vec<Finding>,
    /// None: this node found it out, and keeps it until it is written.
    pub reply: Option<Reply>,
    /// The last pause, if it had to wait.
    pause: Duration,
    not_before: Duration,
}

impl Report {
    fn of(findings: Vec<Finding>, reply: Option<Reply>) -> Self {
        Self {
            findings,
            reply,
            pause: Duration::ZERO,
            not_before: Duration::ZERO,
        }
    }

    /// The request waits no more: its executor will repeat it.
    fn is_abandoned(&self) -> bool {
        self.reply.as_ref().is_some_and(Reply::is_closed)
    }

    fn bytes(&self) -> usize {
        let texts = self.findings.iter().filter_map(|it| it.message.as_deref());
        texts.map(str::len).sum()
    }
}

#[derive(Default)]
struct Work {
    /// The node ends: no report is taken any more.
    closed: bool,
    reports: VecDeque<Report>,
    /// Those that could not be written while others could.
    parked: Vec<Report>,
    /// Findings in `reports` and `parked`, and the bytes of their texts.
    count: usize,
    bytes: usize,
    /// Runs of which a finding has failed alone: when it may be tried again, and the pause after that.
    failed: HashMap<i64, (Duration, Duration)>,
    accepted: HashMap<i64, (Millis, Duration)>,
}

impl Work {
    fn push(&mut self, report: Report) {
        self.count += report.findings.len();
        self.bytes += report.bytes();
        self.reports.push_back(report);
    }

    fn has_taken(&mut self, report: &Report) {
        self.count -= report.findings.len();
        self.bytes -= report.bytes();
    }
}

/// What waits to be written.
#[derive(Default)]
pub struct Queue {
    work: Mutex<Work>,
    pub wake: Arc<Notify>,
}

impl Queue {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Results reported by an executor; answers after the commit.
    pub async fn report(&self, findings: Vec<Finding>) -> Result<(), NotStored> {
        let (reply, answer) = oneshot::channel();
        let report = Report::of(findings, Some(reply));
        {
            let mut work = self.work();
            let is_full = work.count + report.findings.len() > FINDINGS_WAITING
                || work.bytes + report.bytes() > BYTES_WAITING;
            // One report alone is always taken, however large it is.
            if work.closed || (is_full && work.count > 0) {
                return Err(NotStored);
            }
            work.push(report);
        }
        self.wake.notify_one();
        answer.await.unwrap_or(Err(NotStored))
    }

    /// From now on reports are refused at once: nobody would write them.
    pub fn close(&self) {
        self.work().closed = true;
    }

    /// What this node found out itself; kept until it is written.
    pub fn found(&self, finding: Finding) {
        self.work().push(Report::of(vec![finding], None));
        self.wake.notify_one();
    }

    pub fn accepted(&self, run_id: i64, sent_at: Millis, now: Duration) {
        self.work().accepted.insert(run_id, (sent_at, now));
    }

    pub fn is_empty(&self) -> bool {
        self.is_empty_but_accepted() && self.work().accepted.is_empty()
    }

    /// What fails again and again is not waited for.
    pub fn is_empty_but_accepted(&self) -> bool {
        let work = self.work();
        let waits = |report: &Report| {
            let mut findings = report.findings.iter();
            findings.any(|finding| !work.failed.contains_key(&finding.run_id))
        };
        work.reports.is_empty() && !work.parked.iter().any(waits)
    }

    pub fn has_reports(&self) -> bool {
        !self.work().reports.is_empty()
    }

    /// The oldest, and those that have waited long enough. Reports of which the request has ended are dropped.
    pub fn take_reports(&self, now: Duration) -> Vec<Report> {
        let mut work = self.work();
        let ripe = |report: &mut Report| report.not_before <= now || report.is_abandoned();
        let ripe: Vec<Report> = work.parked.extract_if(.., ripe).collect();
        work.reports.extend(ripe);
        let (mut taken, mut count) = (Vec::new(), 0);
        while count < BATCH {
            let Some(report) = work.reports.pop_front() else {
                break;
            };
            work.has_taken(&report);
            if !report.is_abandoned() {
                count += report.findings.len();
                taken.push(report);
            }
        }
        taken
    }

    /// A report of which these findings could not be written while others could. It waits behind the others.
    pub fn park(&self, mut report: Report, findings: Vec<Finding>, now: Duration) {
        report.findings = findings;
        report.pause = (report.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        report.not_before = now + report.pause;
        let mut work = self.work();
        work.count += report.findings.len();
        work.bytes += report.bytes();
        work.parked.push(report);
    }

    /// A finding of this run has failed alone. Answers whether that is news.
    pub fn has_failed(&self, run_id: i64, now: Duration) -> bool {
        let mut work = self.work();
        if work.failed.len() >= FAILURES_REMEMBERED {
            work.failed.clear();
        }
        let before = work.failed.get(&run_id).map(|(_, pause)| *pause);
        let pause = (before.unwrap_or_default() * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        work.failed.insert(run_id, (now + pause, pause));
        before.is_none()
    }

    pub fn has_not_failed(&self, run_id: i64) {
        self.work().failed.remove(&run_id);
    }

    /// A finding of this run has failed alone; true: it may be tried again now.
    pub fn failed(&self, run_id: i64, now: Duration) -> Option<bool> {
        let work = self.work();
        work.failed.get(&run_id).map(|(again, _)| *again <= now)
    }

    /// When the request of an accepted run left; it need not be written any more.
    pub fn take_accepted_of(&self, run_id: i64) -> Option<Millis> {
        self.work()
            .accepted
            .remove(&run_id)
            .map(|(sent_at, _)| sent_at)
    }

    pub fn take_accepted(&self, before: Duration) -> Vec<(i64, Millis)> {
        let mut work = self.work();
        let ripe = work.accepted.extract_if(|_, (_, since)| *since <= before);
        ripe.map(|(run_id, (sent_at, _))| (run_id, sent_at))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::{Outcome, RunEvent};

    use super::*;

    fn finding(run_id: i64, bytes: usize) -> Finding {
        Finding {
            run_id,
            event: RunEvent::Reported(Outcome::Failed),
            code: None,
            message: Some("x".repeat(bytes)),
            reason: None,
            sent_at: None,
        }
    }

    // covers: F17
    #[tokio::test]
    async fn what_waits_is_bounded_by_its_bytes() {
        let queue = Queue::default();
        for run_id in 0..1024 {
            queue.found(finding(run_id, 64 << 10));
        }
        assert!(queue.report(vec![finding(1, 1)]).await.is_err());
        assert!(!queue.take_reports(Duration::ZERO).is_empty());
        let waiting = queue.report(vec![finding(1, 1)]);
        tokio::select! {
            biased;
            refused = waiting => panic!("there is room: {refused:?}"),
            () = std::future::ready(()) => {}
        }
    }

    // covers: F17
    #[tokio::test]
    async fn a_report_whose_request_has_ended_is_dropped() {
        let queue = Queue::default();
        {
            let waiting = queue.report(vec![finding(1, 1)]);
            tokio::select! {
                biased;
                done = waiting => panic!("nobody has written it: {done:?}"),
                () = std::future::ready(()) => {}
            }
        }
        queue.found(finding(2, 1));
        let taken = queue.take_reports(Duration::ZERO);
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].findings[0].run_id, 2);
        assert!(queue.is_empty());
    }

    #[test]
    fn what_was_parked_waits_longer_each_time() {
        let queue = Queue::default();
        queue.found(finding(1, 1));
        let mut now = Duration::ZERO;
        for pause in [40, 80, 160] {
            let report = queue.take_reports(now).pop().unwrap();
            let findings = report.findings.clone();
            queue.park(report, findings, now);
            now += Duration::from_millis(pause - 1);
            assert!(queue.take_reports(now).is_empty());
            now += Duration::from_millis(1);
        }
        assert_eq!(queue.take_reports(now).len(), 1);
    }
}
