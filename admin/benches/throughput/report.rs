//! What was seen, in one table.

use std::collections::{HashMap, HashSet};

use carillon_testkit::{Callback, Receipt, Usage};

/// Lateness and callback latency of one app in a time, for the comparison of two times.
pub struct Felt {
    runs: usize,
    lateness: [f64; 3],
    latency: [f64; 3],
}

impl Felt {
    pub fn of(received: &[Receipt], called: &[Callback], (from, to): (i64, i64)) -> Self {
        let within = |at: i64| at >= from && at < to;
        let due = received.iter().filter(|receipt| within(receipt.due_at));
        let lateness: Vec<f64> = due.map(|it| (it.received_at - it.due_at) as f64).collect();
        let latency = called.iter().filter(|call| within(call.sent_at));
        Self {
            runs: lateness.len(),
            lateness: shares(lateness),
            latency: shares(latency.map(|call| call.took.as_secs_f64() * 1000.0).collect()),
        }
    }

    pub fn print(&self, name: &str) {
        let Self { runs, lateness, latency } = self;
        println!(
            "{name:<22} {runs} runs, lateness p50/p99/max {:.0} / {:.0} / {:.0} ms, callbacks p50/p99/max {:.1} / {:.1} / {:.1} ms",
            lateness[0], lateness[1], lateness[2], latency[0], latency[1], latency[2]
        );
    }
}

/// Median, 99th part of a hundred, greatest.
fn shares(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    [0.5, 0.99, 1.0].map(|share| values.get((last * share) as usize).copied().unwrap_or(-1.0))
}

/// Of jobs that fire each `every` seconds, what was due in this time.
pub fn print(received: &[Receipt], every: u64, (from, to): (i64, i64), (before, after): (&Usage, &Usage)) {
    let window: Vec<&Receipt> =
        received.iter().filter(|receipt| receipt.due_at >= from && receipt.due_at < to).collect();
    let mut lateness: Vec<i64> = window.iter().map(|receipt| receipt.received_at - receipt.due_at).collect();
    lateness.sort_unstable();
    let at = |share: f64| lateness.get(((lateness.len() as f64 - 1.0) * share) as usize).copied().unwrap_or(-1);
    let cpu = after.user + after.system - before.user - before.system;
    let runs = window.len();
    println!("runs received          {runs}  ({:.0} a second)", runs as f64 * 1000.0 / (to - from) as f64);
    println!(
        "missed / twice         {} / {}",
        missed(&window, every as i64),
        runs - window.iter().map(|r| r.run_id).collect::<HashSet<_>>().len()
    );
    println!("early                  {}", lateness.iter().filter(|late| **late < 0).count());
    println!("lateness p50/p99/max   {} / {} / {} ms", at(0.5), at(0.99), at(1.0));
    println!(
        "CPU s per 1000 runs    {:.4}  ({:.4} user, {:.4} system)",
        per_1000(cpu, runs),
        per_1000(after.user - before.user, runs),
        per_1000(after.system - before.system, runs)
    );
    println!("memory                 {:.0} MiB resident", after.resident);
}

fn per_1000(seconds: f64, runs: usize) -> f64 {
    seconds * 1000.0 / runs.max(1) as f64
}

/// Instants between the first and the last receipt of all that a job has none for.
fn missed(window: &[&Receipt], every: i64) -> usize {
    let mut by_job: HashMap<i32, HashSet<i64>> = HashMap::new();
    for receipt in window {
        by_job.entry(receipt.job_id).or_default().insert(receipt.due_at / 1000);
    }
    let all = window.iter().map(|receipt| receipt.due_at / 1000);
    let (Some(first), Some(last)) = (all.clone().min(), all.max()) else {
        return 0;
    };
    by_job.values().map(|seconds| ((last - first) / every + 1) as usize - seconds.len()).sum()
}
