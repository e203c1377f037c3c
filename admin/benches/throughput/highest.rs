//! The highest rate whose p99 lateness stays below a second: doubled until it does not, then bisected to a tenth.

use std::time::Duration;

use crate::options::Options;
use crate::report::Figures;
use crate::trial::{START, Trial};

/// In ms.
const BOUND: f64 = 1000.0;

pub async fn print(options: &Options) {
    print_head();
    let highest = search(options.jobs, options.most, async |rate| {
        let trial = Trial::start(options).await;
        let is_held = holds(&trial, options, rate).await;
        trial.end().await;
        is_held
    });
    println!("highest rate           {} runs a second with a p99 lateness below 1 s", highest.await);
}

pub fn print_head() {
    println!("  rate  received a second  lateness p50/p99/max ms     missed  CPU s per 1000 runs of the first node");
}

/// Whether this rate is kept by these nodes, which have no jobs yet.
pub async fn holds(trial: &Trial, options: &Options, rate: usize) -> bool {
    trial.create_jobs(options, rate * options.every).await;
    tokio::time::sleep(START).await;
    let figures = trial.measure(options).await;
    let is_held = is_held(&figures, rate * options.seconds as usize);
    let Figures { rate: received, lateness: [p50, p99, max], missed, user, system, .. } = figures;
    let verdict = if is_held { "" } else { "  too late" };
    println!("{rate:6}  {received:17.0}  {p50:7.0} / {p99:6.0} / {max:6.0}  {missed:9}  {:.4}{verdict}", user + system);
    is_held
}

/// What has not come in time counts as late.
fn is_held(figures: &Figures, due: usize) -> bool {
    let is_all = figures.runs * 100 >= due * 99 && figures.missed * 100 <= figures.runs;
    is_all && figures.lateness[1] < BOUND
}

/// The greatest rate that holds, to a tenth. 0: not even 1 does.
pub async fn search(first: usize, most: usize, mut holds: impl AsyncFnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, None);
    let mut rate = first.min(most);
    loop {
        match holds(rate).await {
            true => low = rate,
            false => high = Some(rate),
        }
        rate = match high {
            None if low == most => return low,
            None => (low * 2).min(most),
            Some(high) if high - low <= (high / 10).max(1) => return low,
            Some(high) => low + (high - low) / 2,
        };
        // The trial before leaves pages to write and connections to close.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
