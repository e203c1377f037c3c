//! One of four executors accepts connections and never answers.

use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_testkit::{RecordingExecutor, Reply, now_ms, wait_for};
use serde_json::json;

use super::ledger::{
    assert_acknowledged_results_are_there, assert_each_instant_is_recorded_once, assert_receipts_and_runs_agree,
    by_state,
};
use super::load::{Load, every_second};
use crate::program::settings;

const IN_FLIGHT: usize = 32;
/// How long one of them hangs: longer than the pause after three time-outs, so that it is probed again.
const HANGING: Millis = 15_000;

/// The time comparison of this scenario is the benchmark `hanging`; here is what must hold on any machine.
// covers: 002-26, 002-28, 003-27
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_executor_holds_its_own_slots_and_costs_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 4, vec![every_second(&json!({})); 200]).await;
    load.until_received(4 * 200).await;
    load.executors[0].reply(Reply::Never);
    let hung_at = now_ms();
    wait_for("the others go on", async || {
        let last = load.receipts().iter().map(|receipt| receipt.scheduled_at).max();
        last >= Some(hung_at + HANGING)
    })
    .await;
    let until = load.api.disable(&load.jobs).await;
    let runs = load.api.runs_at_the_end(Duration::from_secs(60)).await;
    let misfires = load.api.misfires().await;
    eprintln!("{:?}", by_state(&runs));

    assert_each_instant_is_recorded_once(&load.jobs, &runs, &misfires, until);
    assert!(misfires.is_empty(), "nothing was late by a minute");
    assert_receipts_and_runs_agree(&runs, &load.receipts());
    assert_acknowledged_results_are_there(&runs, &load.executors);
    assert_limited(&load.executors[0]);
    for other in &load.executors[1..] {
        assert!(other.receipts().iter().all(|receipt| receipt.answered));
    }
    // Each run that it never answered waits for evidence, and every other one has its result.
    let unknown = runs.iter().filter(|run| run.state == "unknown");
    assert_eq!(unknown.count(), load.executors[0].unanswered().len());
    drop(node);
}

/// A request that is not answered holds its slot for three seconds. After the first three time-outs the address is left
/// alone for ten seconds, then one run probes it.
fn assert_limited(executor: &RecordingExecutor) {
    let mut times: Vec<Millis> = executor.unanswered().iter().map(|r| r.received_at).collect();
    times.sort_unstable();
    eprintln!("{} runs reached the hanging executor", times.len());
    for window in times.windows(IN_FLIGHT + 1) {
        let took = window[IN_FLIGHT] - window[0];
        assert!(took > 2_500, "more than {IN_FLIGHT} in flight within {took} ms");
    }
    // Two may take a slot that has just timed out before the third time-out closes the address; then a probe each ten seconds.
    assert!((1..=IN_FLIGHT + 2 + 2).contains(&times.len()), "{times:?}");
}
