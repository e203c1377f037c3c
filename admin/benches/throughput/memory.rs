//! The memory of the admin over a long time, each 10 s: does it stay flat?

use std::time::Duration;

use carillon_testkit::Memory;

use crate::options::Options;
use crate::report::shares;
use crate::trial::Trial;

const EACH: Duration = Duration::from_secs(10);
/// Samples of one line.
const LINE: usize = 6;

pub async fn print_curve(options: &Options) {
    let trial = Trial::start(options).await;
    trial.create_jobs(options, options.jobs).await;
    println!("MiB each 10 s          at the end of the minute");
    println!("minute  resident                          anonymous  heap    runs  lateness p50/p99/max ms");
    let (mut samples, mut lateness) = (vec![], vec![]);
    let count = options.seconds.div_ceil(EACH.as_secs()).max(1) as usize;
    for number in 1..=count {
        tokio::time::sleep(EACH).await;
        samples.push(trial.nodes[0].memory());
        let received = trial.executors.take_receipts();
        lateness.extend(received.iter().map(|receipt| (receipt.received_at - receipt.due_at) as f64));
        if number % LINE == 0 || number == count {
            print_minute(&samples, std::mem::take(&mut lateness));
        }
    }
    let resident: Vec<f64> = samples.iter().map(|sample| sample.resident).collect();
    let third = |number: usize| mean(&resident[count * number / 3..(count * (number + 1)).div_ceil(3)]);
    println!("mean of each third     {:.0} / {:.0} / {:.0} MiB", third(0), third(1), third(2));
    println!("most ever resident     {:.0} MiB", trial.nodes[0].peak_memory() as f64 / f64::from(1 << 20));
    trial.end().await;
}

fn print_minute(samples: &[Memory], lateness: Vec<f64>) {
    let minute = samples.len().div_ceil(LINE);
    let of_minute = &samples[(minute - 1) * LINE..];
    let resident: Vec<String> = of_minute.iter().map(|sample| format!("{:4.0}", sample.resident)).collect();
    let Memory { anonymous, heap, .. } = of_minute[of_minute.len() - 1];
    let (runs, [p50, p99, max]) = (lateness.len(), shares(lateness));
    println!(
        "{minute:6}  {:32}  {anonymous:9.0}  {heap:4.0}  {runs:6}  {p50:.0} / {p99:.0} / {max:.0}",
        resident.join(" ")
    );
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
