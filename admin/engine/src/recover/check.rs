//! What an executor that keeps no journal still has of a run: `/idleBeat` says whether it works on the run's job, the log
//! of the run says more where that is not enough.
//!
//! What each sighting at an address can prove, of the runs of one job that were sent there:
//!
//! | sighting | proves | says nothing about |
//! |---|---|---|
//! | `/idleBeat`: idle | every run that was sent before is over there; this stays valid | runs that are sent later |
//! | `/idleBeat`: busy | one of the runs is there; with one open run: this one | which of several, if several are open |
//! | the log of a run ends | this run is over | all others |
//! | the log of a run has begun | this run was started | whether it still runs; all others |
//! | no log of a run | nothing: it may wait in a queue, or the executor keeps no logs | |
//! | `/idleBeat`: any other answer, or none | nothing | |
//! | a later run has succeeded (`serial`, `discard_later`) | every run that was sent before it is over | later runs |
//! | a later run has failed, by a report of its executor (`serial`) | the same | later runs |
//! | a later run was accepted (`discard_later`) | the same | later runs |
//! | a later run was sent (`cover_early`) | an earlier one whose log does not grow was replaced | runs without a log |
//! | a later run was sent, and its answer is awaited | it may be there | whether it is |
//! | a person has resolved a run | nothing | |
//! | `/kill` agrees | it will end **all** runs of the job there | |
//!
//! The rows about later runs are read from the database, so they hold with any answer to `/idleBeat`, or none. The later runs of a
//! job are looked for among the next 20,000 ids, and by the next hundred instants of its schedule.

use std::hash::{DefaultHasher, Hasher as _};
use std::time::Duration;

use carillon_scheduler::{BlockStrategy, Millis, Outcome as Reported, RunEvent, RunReason};

use crate::executor::client::{ExecutorClient, LogAnswer, SUCCESS, TIMEOUT};
use crate::recover::check_schedule::Sighting;
use crate::recover::end_of_log::End;
use crate::recover::run_knowledge::{IdleBeat, log_shows_start};
use carillon_store::run::open::checked::ToCheck;
use carillon_store::run::settle::finding::RunReport;

/// Pages of one log that are read: pyxxl sends 1,000 lines a page, Java all at once.
const PAGES: usize = 64;
/// Kept of a log's end, in bytes: a result's text has at most 50,000 characters in Java.
const TAIL: usize = 256 * 1024;

/// Between the moment at which a definition is read and the one at which its request leaves.
const SENT_WITHIN: Millis = 5_000;

#[derive(Clone, Debug)]
pub enum CheckResult {
    /// It works on the run, or on another run of the job before this one.
    AtWork,
    /// Something that ends the run if it is seen again.
    Suspicious(Sighting, RunReport),
    Inconclusive(String),
}

/// The other runs of a run's job at its address.
pub struct OtherRuns<'a> {
    /// Those that have been running for long, and when they were sent.
    pub long_running: &'a [(i64, Millis)],
    /// One that was sent later is running.
    pub has_later: bool,
    /// When the last later one was sent whose result, by its block strategy, shows that the earlier ones are over.
    pub last_result_at: Option<Millis>,
}

/// `before`: what the last look has seen. If the run was over then, its log is read for an outcome.
pub async fn check_run(
    client: &ExecutorClient,
    (app, address): (&str, &str),
    limit: Duration,
    it: &ToCheck,
    others: &OtherRuns<'_>,
    before: Option<Sighting>,
) -> CheckResult {
    let beside = others.long_running;
    let run = &it.run;
    let beat = IdleBeat::from(client.idle_beat(address, app, run.job_id, limit).await);
    let over = is_over(it, others, &beat, before);
    // A log may be large. Without a second run of the job there the executor is busy with this one.
    let wants_log = match (&beat, over) {
        (IdleBeat::Unclear { why, .. }, None) => return CheckResult::Inconclusive(why.clone()),
        (IdleBeat::Unclear { answers: false, .. }, _) => false,
        (_, Some(_)) => before.is_some(),
        (_, None) => !beside.is_empty(),
    };
    let log = match wants_log {
        true => Log::read(client, it, app, address).await,
        false => None,
    };
    if let Some(end) = log.as_ref().and_then(|log| End::of(&log.tail, run.job_id, run.run_id)) {
        // The run is over anyway: the log only adds the outcome to what is known.
        let seen = over.unwrap_or(Sighting::Ended(end.code));
        return CheckResult::Suspicious(seen, ended(run.run_id, end));
    }
    if let Some(seen) = over {
        let why = match seen {
            Sighting::Overtaken => "the executor has taken a later run of this job since",
            _ if beat == IdleBeat::Idle => "the executor has no run of this job any more",
            _ => "the executor had no run of this job, and has a later one now",
        };
        let why = format!("{address}: {why}, and no result was reported");
        return CheckResult::Suspicious(seen, dropped(run.run_id, RunReason::NotReported, why));
    }
    match (log, replaced_by(it, beside)) {
        (Some(log), Some(by)) => {
            let why = format!("{address}: replaced by run {by} (cover_early), and no result was reported");
            let seen = Sighting::Replaced { log: log.digest };
            CheckResult::Suspicious(seen, dropped(run.run_id, RunReason::Replaced, why))
        }
        _ => CheckResult::AtWork,
    }
}

/// The sighting that proves without the log that the executor no longer has this run. None: the run may still be there.
fn is_over(it: &ToCheck, others: &OtherRuns, beat: &IdleBeat, before: Option<Sighting>) -> Option<Sighting> {
    let has_later = others.has_later || others.last_result_at.is_some();
    // Busy with no later run: pyxxl is idle for a moment between two runs of its queue.
    if *beat == IdleBeat::Idle || *beat == IdleBeat::Busy && before == Some(Sighting::Idle) && has_later {
        return Some(Sighting::Idle);
    }
    is_overtaken(it, others.has_later, others.last_result_at).then_some(Sighting::Overtaken)
}

/// Whether what became of later runs shows that this one is over. `last_result_at`: when the last one was sent that has a result
/// which shows it.
pub fn is_overtaken(it: &ToCheck, has_later: bool, last_result_at: Option<Millis>) -> bool {
    match it.block {
        Some((BlockStrategy::Serial, _)) => last_result_at.is_some_and(|sent_at| is_in_force(it, sent_at)),
        // Both were sent under it, so that a run which is accepted finds no other.
        Some((BlockStrategy::DiscardLater, _)) => {
            is_in_force(it, it.run.sent_at) && (has_later || last_result_at.is_some())
        }
        Some((BlockStrategy::CoverEarly, _)) | None => false,
    }
}

/// Whether a run that was sent then was sent with the block strategy that its job has today.
pub fn is_in_force(it: &ToCheck, sent_at: Millis) -> bool {
    it.block.is_some_and(|(_, since)| since == 0 || sent_at > since + SENT_WITHIN)
}

/// The first run that was sent to the same executor after this one, under `cover_early`: an executor ends this one for it.
/// Under the other strategies this one may wait or go on.
fn replaced_by(it: &ToCheck, beside: &[(i64, Millis)]) -> Option<i64> {
    let (_, covers_since) = it.block.filter(|(block, _)| *block == BlockStrategy::CoverEarly)?;
    let since = it.run.sent_at.max(covers_since + SENT_WITHIN);
    let later = beside.iter().filter(|(_, sent_at)| *sent_at > since);
    later.min_by_key(|(_, sent_at)| *sent_at).map(|(id, _)| *id)
}

fn ended(run_id: i64, end: End) -> RunReport {
    let (outcome, reason) = match end.code {
        SUCCESS => (Reported::Succeeded, None),
        TIMEOUT => (Reported::Failed, Some(RunReason::Timeout)),
        _ => (Reported::Failed, Some(RunReason::Result)),
    };
    let said = end.message.unwrap_or_default();
    RunReport {
        run_id,
        event: RunEvent::Reported(outcome),
        code: Some(end.code),
        message: Some(format!("{said} [read from its log: no result was reported]").trim_start().to_owned()),
        reason,
        sent_at: None,
        received_at: None,
        reporter: None,
        not_before: None,
    }
}

fn dropped(run_id: i64, reason: RunReason, why: String) -> RunReport {
    RunReport::internal(run_id, RunEvent::Dropped, reason, why)
}

/// A log that could be read to its end.
struct Log {
    tail: String,
    digest: u64,
}

impl Log {
    /// None: there is no log, or it is not whole.
    async fn read(client: &ExecutorClient, it: &ToCheck, app: &str, address: &str) -> Option<Self> {
        let run = &it.run;
        let (mut from, mut tail, mut digest) = (1, String::new(), DefaultHasher::new());
        for _ in 0..PAGES {
            let log = client.read_log(address, app, run.run_id, run.due_at, from);
            let Ok(LogAnswer::Page(page)) = log.await else {
                return None;
            };
            if from == 1 && !log_shows_start(&page) {
                return None;
            }
            if page.content.is_empty() || page.to_line < from {
                return Some(Self { tail, digest: digest.finish() });
            }
            digest.write(page.content.as_bytes());
            tail += &page.content;
            if tail.len() > TAIL {
                tail.drain(..tail.ceil_char_boundary(tail.len() - TAIL));
            }
            from = page.to_line + 1;
        }
        None
    }
}
