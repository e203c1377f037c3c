//! Does an executor that hangs make the runs of the others late? Two phases of one run of the real binary: four executors
//! of one app that answer at once, and then three of them while the fourth accepts connections and never answers.
//!
//! ```text
//! cargo bench -p carillon-admin --bench hanging -- [--jobs 200] [--seconds 15]
//! ```
//!
//! Wanted: the p99 of the three in the second phase is within 20% of the first, or 10 ms if that is more. The whole second
//! phase counts, from the moment in which the fourth begins to hang.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking when the machine is not fit for it")]

#[path = "../tests/it/faults/api.rs"]
#[expect(dead_code, reason = "shared with the tests of faults")]
mod api;
#[path = "../tests/it/faults/load.rs"]
#[expect(dead_code, reason = "shared with the tests of faults")]
mod load;

use std::ops::Range;
use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_testkit::{ProgramSettings, RecordingExecutor, Reply, now_ms};
use serde_json::json;

use load::{Load, every_second};

/// The first seconds belong to the start: connections, caches, five seconds claimed at once.
const START: Duration = Duration::from_secs(6);
/// Runs are on their way for as long as this after a phase.
const AFTERWARDS: Duration = Duration::from_secs(5);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let (jobs, seconds) = options();
    let folder = tempfile::tempdir().unwrap();
    let mut setup = ProgramSettings::new(env!("CARGO_BIN_EXE_carillon"), folder.path());
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 4, vec![every_second(&json!({})); jobs]).await;
    tokio::time::sleep(START).await;
    let well = phase(seconds).await;
    load.executors[0].reply(Reply::Never);
    let hanging = phase(seconds).await;
    tokio::time::sleep(AFTERWARDS).await;

    let three = &load.executors[1..];
    let (before, after) = (lateness(three, &well), lateness(three, &hanging));
    println!("phase                      runs    p50    p99    max  (ms, at the three that answer)");
    print("all four answer", &before);
    print("the fourth hangs", &after);
    println!("{} runs went to the hanging one", load.executors[0].unanswered().len());
    let (before, after) = (share(&before, 0.99), share(&after, 0.99));
    let allowed = before + (before / 5).max(10);
    let verdict = if after <= allowed { "as punctual" } else { "LATER" };
    println!("p99 {before} ms -> {after} ms, {allowed} ms allowed: {verdict}");
}

/// Jobs that fire each second, and how long a phase is.
fn options() -> (usize, u64) {
    let (mut jobs, mut seconds) = (200, 15);
    let mut given = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = given.next() {
        let value = given.next().and_then(|value| value.parse().ok());
        match (word.as_str(), value) {
            ("--jobs", Some(value)) => jobs = value,
            ("--seconds", Some(value)) => seconds = value as u64,
            _ => panic!("{word}: use --jobs NUMBER, --seconds NUMBER"),
        }
    }
    (jobs, seconds)
}

/// Lets that time pass; answers the instants that were due in it.
async fn phase(seconds: u64) -> Range<Millis> {
    let start = now_ms();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    start..now_ms()
}

/// Milliseconds from the instant to the receipt, ascending.
fn lateness(executors: &[RecordingExecutor], phase: &Range<Millis>) -> Vec<Millis> {
    let mut receipts: Vec<_> = executors.iter().flat_map(RecordingExecutor::receipts).collect();
    receipts.retain(|receipt| phase.contains(&receipt.scheduled_at));
    let mut late: Vec<Millis> = receipts.iter().map(|receipt| receipt.received_at - receipt.scheduled_at).collect();
    late.sort_unstable();
    late
}

fn share(ascending: &[Millis], share: f64) -> Millis {
    let last = ascending.len().saturating_sub(1) as f64;
    ascending.get((last * share) as usize).copied().unwrap_or(-1)
}

fn print(name: &str, late: &[Millis]) {
    println!("{name:24} {:6} {:6} {:6} {:6}", late.len(), share(late, 0.5), share(late, 0.99), share(late, 1.0));
}
