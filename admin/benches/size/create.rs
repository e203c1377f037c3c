//! How quickly jobs are created through the API.

use std::time::Instant;

use carillon_testkit::{ApiClient, Process};
use serde_json::{Value, json};

const BATCH: usize = 1000;

/// In batches on two connections.
pub async fn measure(api: &ApiClient, process: &Process, count: usize, schedule: &Value) {
    let job = |n: usize| json!({"app": "bench", "name": format!("new {n}"), "handler": "bench", "schedule": schedule});
    let batch: Value = (0..BATCH).map(job).collect();
    let batches = count.div_ceil(2 * BATCH);
    let send = async || {
        for _ in 0..batches {
            api.post("jobs:batch", batch.clone()).await.ok();
        }
    };
    let (before, begun) = (process.usage(), Instant::now());
    tokio::join!(send(), send());
    let (after, seconds, made) = (process.usage(), begun.elapsed().as_secs_f64(), (2 * batches * BATCH) as f64);
    println!("jobs created           {made} at {:.0}/s", made / seconds);
    println!(
        "CPU of 1000 of them    {:.4} s",
        (after.user + after.system - before.user - before.system) / made * 1000.0
    );
}
