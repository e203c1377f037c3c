//! What an executor costs: a second process plays the executor, this one sends it runs and takes its results.
//!
//! ```text
//! cargo bench -p carillon-executor --bench throughput -- [runs a second] [seconds] [in flight]
//! ```
//!
//! By default `1000 10 32`: a burst of that size at each whole second, as a thousand jobs that fire every second produce. Prints
//! CPU seconds per 1000 runs of the executor's process, how long a burst took to be accepted, and how many callbacks
//! it needed: with its journal synced and not synced, one run in a request and many. Linux only: CPU and memory come from `/proc`.

mod admin;
mod executor;
mod load;

use std::env;
use std::error::Error;
use std::time::{Duration, Instant};

use executor::ExecutorProcess;
use load::{Load, Wire};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    if executor::is_one() {
        return executor::run().await;
    }
    if !env::args().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` runs it too, which shall cost nothing.
        return Ok(());
    }
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [rate, seconds, in_flight] = std::array::from_fn(|index| {
        let default = [1000, 10, 32][index];
        numbers.get(index).copied().unwrap_or(default)
    });
    for durability in ["machine", "process"] {
        for wire in [Wire::Run, Wire::Runs] {
            measure(rate, seconds, in_flight, durability, wire).await?;
        }
    }
    Ok(())
}

async fn measure(rate: usize, seconds: usize, in_flight: usize, durability: &str, wire: Wire) -> Outcome<()> {
    let admin = admin::Admin::start().await?;
    let data = tempfile::tempdir_in(env::current_dir()?)?;
    let mut process = ExecutorProcess::start(&admin.address, data.path(), durability)?;
    let mut load = Load::connect(&process.listen, &process.token, in_flight, wire).await?;

    load.burst(1, 100).await?;
    admin.has_results(100).await?;
    let (cpu, begun) = (process.cpu_seconds()?, Instant::now());
    let mut bursts = Vec::new();
    for second in 0..seconds {
        tokio::time::sleep_until((begun + Duration::from_secs(second as u64)).into()).await;
        let now = Instant::now();
        load.burst(101 + second * rate, rate).await?;
        bursts.push(now.elapsed());
    }
    admin.has_results(100 + seconds * rate).await?;
    tokio::time::sleep_until((begun + Duration::from_secs(seconds as u64)).into()).await;
    let cpu = process.cpu_seconds()? - cpu;
    bursts.sort_unstable();
    println!(
        "{durability:8} {:5} {rate} runs/s for {seconds} s, {in_flight} in flight: {:.4} CPU s per 1000 runs, \
         burst accepted in {:.1} ms (median) {:.1} ms (longest), {} callbacks, {} MiB",
        wire.path(),
        cpu / (seconds * rate) as f64 * 1000.0,
        bursts[bursts.len() / 2].as_secs_f64() * 1e3,
        bursts[bursts.len() - 1].as_secs_f64() * 1e3,
        admin.callbacks(),
        process.memory_kib()? / 1024,
    );
    process.end()
}
