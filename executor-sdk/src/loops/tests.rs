//! Loops in virtual time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{LoopCounters, LoopGrant, LoopRenewals, LoopTiming, RenewedLoop};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use super::Loops;
use super::permission::SentAt;
use crate::context::JobContext;
use crate::handler::{BoxedHandler, JobError};

/// The admin's time at the start of a test: 20 ms after a multiple of 50.
const NOW: i64 = 1_790_000_000_020;
const LEASE_MS: u32 = 5_000;
const EVERY_50_MS: LoopTiming = LoopTiming::Rate { period_ms: 50, from: 0 };

/// When calls have begun.
type Calls = Arc<Mutex<Vec<Instant>>>;

/// An executor's loops, and an admin that renews them when a test says so.
struct Bench {
    loops: Loops,
    started: Instant,
    calls: Calls,
}

impl Bench {
    /// The handlers `ok`, `fails`, `panics` and `takes`, which takes as many ms as its parameter says.
    fn new() -> Self {
        let calls = Calls::default();
        let mut handlers: HashMap<String, Arc<dyn BoxedHandler>> = HashMap::new();
        let begun = Arc::clone(&calls);
        let takes = move |ctx: JobContext| {
            begun.lock().push(Instant::now());
            async move {
                sleep(Duration::from_millis(ctx.params().parse().unwrap_or(0))).await;
                Ok::<_, JobError>(ctx.fire_key().map(str::to_owned))
            }
        };
        handlers.insert("takes".to_owned(), Arc::new(takes));
        let fails = |ctx: JobContext| async move { Err::<(), _>(JobError::new(format!("no {}", ctx.params()))) };
        handlers.insert("fails".to_owned(), Arc::new(fails));
        let panics = |ctx: JobContext| async move {
            assert!(ctx.params().is_empty(), "boom");
            Ok::<_, JobError>(())
        };
        handlers.insert("panics".to_owned(), Arc::new(panics));
        Self { loops: Loops::new(Arc::new(handlers), Handle::current()), started: Instant::now(), calls }
    }

    fn grant(&self, job_id: i32, epoch: i64, handler: &str, params: &str) -> Result<(), String> {
        let (handler, params) = (handler.to_owned(), params.to_owned());
        self.loops.start(LoopGrant { job_id, epoch, handler, params, timeout_seconds: 0 })
    }

    fn admin_now(&self) -> i64 {
        NOW + self.started.elapsed().as_millis() as i64
    }

    /// All loops that are reported are renewed, with the timing of a job.
    fn renew(&self, timing: impl Fn(i32) -> LoopTiming) {
        let reports = self.loops.reports();
        let renewed = |job_id, epoch| RenewedLoop { job_id, epoch, timing: timing(job_id) };
        let loops = reports.iter().map(|report| renewed(report.job_id, report.epoch)).collect();
        let answer = LoopRenewals { now: self.admin_now(), lease_ms: LEASE_MS, loops };
        self.loops.apply(SentAt::now(), &reports, answer);
    }

    /// The same by an admin whose clock has jumped.
    fn renew_stepped(&self, by_ms: i64) {
        let reports = self.loops.reports();
        let loops = reports.iter().map(|it| RenewedLoop { job_id: it.job_id, epoch: it.epoch, timing: EVERY_50_MS });
        let answer = LoopRenewals { now: self.admin_now() + by_ms, lease_ms: LEASE_MS, loops: loops.collect() };
        self.loops.apply(SentAt::now(), &reports, answer);
    }

    /// Lets time pass, with a renewal at its beginning and after each 1.5 s.
    async fn renewed_for(&self, mut left: Duration, timing: LoopTiming) {
        while !left.is_zero() {
            self.renew(|_| timing.clone());
            let step = left.min(Duration::from_millis(1_500));
            sleep(step).await;
            left -= step;
        }
    }

    fn counters(&self, job_id: i32) -> LoopCounters {
        let report = self.loops.reports().into_iter().find(|report| report.job_id == job_id);
        report.unwrap_or_default().counters
    }

    /// Calls and skipped instants.
    fn counts(&self, job_id: i32) -> (u64, u64) {
        let counters = self.counters(job_id);
        (counters.fired, counters.skipped)
    }
}

#[tokio::test(start_paused = true)]
async fn a_grant_allows_no_call_and_the_first_renewal_does() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "").unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.counts(1), (0, 0));
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_millis(40)).await;
    assert_eq!(bench.counts(1), (1, 0), "the first instant after the renewal, not those before");
}

#[tokio::test(start_paused = true)]
async fn each_instant_is_called_once_and_on_time() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "10").unwrap();
    bench.grant(2, 1, "takes", "0").unwrap();
    bench.renewed_for(Duration::from_secs(60), EVERY_50_MS).await;
    for job_id in [1, 2] {
        assert_eq!(bench.counts(job_id), (1_200, 0));
        let lateness = bench.counters(job_id).lateness;
        assert_eq!(lateness.iter().take(2).sum::<u64>(), 1_200, "within 2 ms: {lateness:?}");
    }
    let history = bench.loops.history(1).unwrap();
    assert_eq!((history.runs.len(), history.failures.len()), (20, 0));
    let last = &history.runs[0];
    assert_eq!(last.at % 50, 0);
    assert_eq!(last.text.as_deref(), Some(&*format!("1:loop:7:{}", last.at)));
    assert!(history.runs.windows(2).all(|two| two[0].at == two[1].at + 50), "{history:?}");
}

#[tokio::test(start_paused = true)]
async fn no_call_begins_when_the_renewal_is_too_long_ago() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "").unwrap();
    bench.renew(|_| EVERY_50_MS);
    let renewed = Instant::now();
    sleep(Duration::from_secs(20)).await;
    let last = *bench.calls.lock().last().unwrap();
    let after = last - renewed;
    assert!((Duration::from_millis(4_400)..Duration::from_millis(4_500)).contains(&after), "{after:?}");
    let (fired, skipped) = bench.counts(1);
    assert_eq!(fired + skipped, 400, "{fired} calls");
    // A late answer to a request of long ago allows nothing either.
    let (sent, reports) = (SentAt::now(), bench.loops.reports());
    sleep(Duration::from_secs(5)).await;
    let loops = vec![RenewedLoop { job_id: 1, epoch: 7, timing: EVERY_50_MS }];
    bench.loops.apply(sent, &reports, LoopRenewals { now: bench.admin_now(), lease_ms: LEASE_MS, loops });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.counts(1).0, fired);
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_secs(1)).await;
    let (fired_at_last, skipped) = bench.counts(1);
    assert_eq!((fired_at_last, fired_at_last + skipped), (fired + 20, 540), "nothing is made up for");
}

#[tokio::test(start_paused = true)]
async fn instants_are_skipped_while_a_call_goes_on() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "120").unwrap();
    bench.renewed_for(Duration::from_secs(15), EVERY_50_MS).await;
    assert_eq!(bench.counts(1), (100, 200));
}

#[tokio::test(start_paused = true)]
async fn after_a_stall_only_the_latest_instant_is_called() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "").unwrap();
    bench.renewed_for(Duration::from_secs(3), EVERY_50_MS).await;
    assert_eq!(bench.counts(1), (60, 0));
    bench.renew(|_| EVERY_50_MS);
    // No timer comes up meanwhile, as in a process that is stopped.
    tokio::time::advance(Duration::from_secs(2)).await;
    sleep(Duration::from_millis(5)).await;
    assert_eq!(bench.counts(1), (61, 39));
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_not_renewed_ends_and_its_successor_does_not() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "").unwrap();
    bench.grant(2, 3, "takes", "").unwrap();
    bench.renew(|_| EVERY_50_MS);
    let reports = bench.loops.reports();
    let sent = SentAt::now();
    // Granted while the request was underway.
    bench.grant(2, 4, "takes", "").unwrap();
    let answer = LoopRenewals { now: bench.admin_now(), lease_ms: LEASE_MS, loops: vec![] };
    bench.loops.apply(sent, &reports, answer);
    let left: Vec<(i32, i64)> = bench.loops.reports().iter().map(|report| (report.job_id, report.epoch)).collect();
    assert_eq!(left, [(2, 4)]);
    sleep(Duration::from_secs(1)).await;
    assert!(bench.calls.lock().is_empty());
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.counts(2), (20, 0));
}

#[tokio::test(start_paused = true)]
async fn a_later_grant_replaces_an_earlier_one_and_their_calls_do_not_overlap() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "1000").unwrap();
    bench.grant(1, 7, "takes", "1000").unwrap();
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_millis(40)).await;
    assert_eq!(bench.counts(1), (1, 0));
    bench.grant(1, 8, "takes", "0").unwrap();
    assert_eq!(bench.grant(1, 7, "takes", "").unwrap_err(), "the loop of this job is here under the later epoch 8");
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_millis(900)).await;
    assert_eq!(bench.counts(1), (0, 18), "the call of the earlier grant goes on");
    sleep(Duration::from_millis(1_000)).await;
    let calls = bench.calls.lock().clone();
    assert!(calls[1] - calls[0] >= Duration::from_secs(1), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_loop_confirms_with_its_last_report() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "").unwrap();
    bench.renewed_for(Duration::from_secs(1), EVERY_50_MS).await;
    assert_eq!(bench.loops.stop(1, 6), None, "it is of a later grant");
    let report = bench.loops.stop(1, 8).unwrap();
    assert_eq!((report.epoch, report.counters.fired, report.ends), (7, 20, true));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.calls.lock().len(), 20);
    assert_eq!(bench.loops.stop(1, 8), None);
    assert_eq!(bench.loops.history(1), None);
}

#[tokio::test(start_paused = true)]
async fn failures_are_counted_and_the_last_ones_remembered() {
    let bench = Bench::new();
    bench.grant(1, 1, "fails", "luck").unwrap();
    bench.grant(2, 1, "panics", "x").unwrap();
    assert_eq!(bench.grant(3, 1, "nope", "").unwrap_err(), "job handler [nope] not found.");
    bench.renewed_for(Duration::from_secs(2), EVERY_50_MS).await;
    for (job_id, text) in [(1, "no luck"), (2, "handler panicked: boom")] {
        let LoopCounters { fired, succeeded, failed, failed_in_row, running, .. } = bench.counters(job_id);
        assert_eq!((fired, succeeded, failed, failed_in_row, running), (40, 0, 40, 40, 0));
        let report = bench.loops.reports().into_iter().find(|report| report.job_id == job_id).unwrap();
        let failure = report.last_failure.unwrap();
        assert_eq!((failure.text.as_str(), Some(failure.at)), (text, report.last_fired_at));
        let history = bench.loops.history(job_id).unwrap();
        assert_eq!((history.failures.len(), &history.runs), (20, &history.failures));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_has_the_time_limit_of_its_job() {
    let bench = Bench::new();
    let grant = LoopGrant { job_id: 1, epoch: 1, handler: "takes".into(), params: "60000".into(), timeout_seconds: 2 };
    bench.loops.start(grant).unwrap();
    bench.renewed_for(Duration::from_secs(9), EVERY_50_MS).await;
    let history = bench.loops.history(1).unwrap();
    assert_eq!((history.failures[0].code, history.failures[0].text.as_deref()), (502, Some("job execute timeout")));
}

#[tokio::test(start_paused = true)]
async fn a_delay_counts_from_the_end_of_the_call_before() {
    let bench = Bench::new();
    bench.grant(1, 1, "takes", "300").unwrap();
    bench.renewed_for(Duration::from_secs(5), LoopTiming::Delay { delay_ms: 200 }).await;
    let calls = bench.calls.lock().clone();
    let gaps: Vec<u128> = calls.windows(2).map(|two| (two[1] - two[0]).as_millis()).collect();
    assert!(gaps.iter().all(|gap| (500..=502).contains(gap)), "{gaps:?}");
    assert_eq!(bench.counts(1), (calls.len() as u64, 0));
    assert!((9..=10).contains(&calls.len()), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn instants_of_a_list_go_on_with_the_next_one() {
    let bench = Bench::new();
    bench.grant(1, 1, "takes", "").unwrap();
    let first = NOW - 20;
    let list = |at: &[i64]| LoopTiming::Instants { at: at.iter().map(|at| first + at).collect() };
    bench.renew(|_| list(&[0, 1_000, 2_000]));
    sleep(Duration::from_millis(1_500)).await;
    bench.renew(|_| list(&[1_000, 2_000, 4_000]));
    sleep(Duration::from_millis(3_000)).await;
    assert_eq!(bench.counts(1), (3, 0));
    let at: Vec<i64> = bench.loops.history(1).unwrap().runs.iter().map(|run| run.at - first).collect();
    assert_eq!(at, [4_000, 2_000, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_all_loops_and_waits_for_their_calls() {
    let bench = Bench::new();
    bench.grant(1, 1, "takes", "700").unwrap();
    bench.grant(2, 1, "takes", "0").unwrap();
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_millis(100)).await;
    bench.loops.close("the executor is stopping");
    assert_eq!(bench.grant(3, 1, "takes", "").unwrap_err(), "the executor is stopping");
    assert_eq!(bench.counters(1).running, 1);
    assert!(bench.loops.renewable().is_empty(), "no renewal gives them back while a call goes on");
    let begun = bench.calls.lock().len();
    bench.loops.calls_ended().await;
    assert_eq!(bench.calls.lock().len(), begun, "no call begins");
    let reports = bench.loops.reports();
    assert!(reports.iter().all(|report| report.ends && report.counters.running == 0), "{reports:?}");
    assert_eq!(bench.counters(1).succeeded, 1);
}

#[tokio::test(start_paused = true)]
async fn the_call_of_a_loop_that_was_stopped_is_cancelled_too() {
    let bench = Bench::new();
    bench.grant(1, 1, "takes", "600000").unwrap();
    bench.renew(|_| EVERY_50_MS);
    sleep(Duration::from_millis(100)).await;
    bench.loops.stop(1, 2).unwrap();
    bench.loops.cancel_calls("the executor is stopping");
    let begun = Instant::now();
    bench.loops.calls_ended().await;
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_loop_goes_on_after_a_step_back_of_the_admins_clock() {
    let bench = Bench::new();
    bench.grant(1, 7, "takes", "").unwrap();
    bench.renewed_for(Duration::from_secs(3), EVERY_50_MS).await;
    assert_eq!(bench.counts(1), (60, 0));
    bench.renew_stepped(-3_600_000);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.counts(1), (80, 0));
}
