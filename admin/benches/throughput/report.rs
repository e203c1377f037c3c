//! What executors have received, in figures.

use std::collections::{HashMap, HashSet};

use carillon_testkit::{Callback, Receipt, Usage};

/// Figures of the runs that were due in a time, and of the process that sent them.
#[derive(Default)]
pub struct Figures {
    pub runs: usize,
    /// In a second.
    pub rate: f64,
    /// Instants between the first and the last receipt of all that a job has none for.
    pub missed: usize,
    pub twice: usize,
    pub early: usize,
    /// Median, 99th part of a hundred and greatest, in ms.
    pub lateness: [f64; 3],
    /// CPU seconds for 1000 runs.
    pub user: f64,
    pub system: f64,
    /// MiB, at the end.
    pub resident: f64,
}

impl Figures {
    /// Figures of jobs that fire each `every` seconds.
    pub fn of(received: &[Receipt], every: usize, (from, to): (i64, i64), (before, after): (&Usage, &Usage)) -> Self {
        let window: Vec<&Receipt> =
            received.iter().filter(|receipt| receipt.due_at >= from && receipt.due_at < to).collect();
        let lateness: Vec<f64> = window.iter().map(|it| (it.received_at - it.due_at) as f64).collect();
        let runs = window.len();
        let per_1000 = |seconds: f64| seconds * 1000.0 / runs.max(1) as f64;
        Self {
            runs,
            rate: runs as f64 * 1000.0 / (to - from) as f64,
            missed: missed(&window, every as i64),
            twice: runs - window.iter().map(|receipt| receipt.run_id).collect::<HashSet<_>>().len(),
            early: lateness.iter().filter(|late| **late < 0.0).count(),
            lateness: shares(lateness),
            user: per_1000(after.user - before.user),
            system: per_1000(after.system - before.system),
            resident: after.resident,
        }
    }

    pub fn print(&self) {
        let [p50, p99, max] = self.lateness;
        println!("runs received          {}  ({:.0} a second)", self.runs, self.rate);
        println!("missed / twice         {} / {}", self.missed, self.twice);
        println!("early                  {}", self.early);
        println!("lateness p50/p99/max   {p50:.0} / {p99:.0} / {max:.0} ms");
        let (user, system) = (self.user, self.system);
        println!("CPU s per 1000 runs    {:.4}  ({user:.4} user, {system:.4} system)", user + system);
        println!("memory                 {:.0} MiB resident", self.resident);
    }
}

/// Lateness and callback latency of one app in a time, for the comparison of two times.
pub struct ClientLatency {
    runs: usize,
    lateness: [f64; 3],
    latency: [f64; 3],
}

impl ClientLatency {
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

/// Median, 99th part of a hundred, greatest; -1 of nothing.
pub fn shares(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    [0.5, 0.99, 1.0].map(|share| values.get((last * share) as usize).copied().unwrap_or(-1.0))
}

fn missed(window: &[&Receipt], every: i64) -> usize {
    let mut by_job: HashMap<i32, HashSet<i64>> = HashMap::new();
    for receipt in window {
        by_job.entry(receipt.job_id).or_default().insert(receipt.due_at / 1000);
    }
    let all = window.iter().map(|receipt| receipt.due_at / 1000);
    let (Some(first), Some(last)) = (all.clone().min(), all.max()) else {
        return 0;
    };
    // Jobs that fire at other seconds than the first and the last of all may have one instant less.
    let least = |seconds: &HashSet<i64>| {
        let own = seconds.iter().min().copied().unwrap_or(first);
        ((last - first.max(own)) / every + 1) as usize
    };
    by_job.values().map(|seconds| least(seconds).saturating_sub(seconds.len())).sum()
}
