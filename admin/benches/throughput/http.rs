//! HTTP jobs: what the node needs to send their requests itself, and how late they are.

use std::sync::{Arc, Mutex};

use carillon_testkit::{Call, HttpStub, Receipt, Reply};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::node;
use crate::options::Options;
use crate::trial::{START, Trial, measure_receipts};

type Receipts = Arc<Mutex<Vec<Receipt>>>;

pub async fn measure(options: &Options) {
    let trial = Trial::start(options).await;
    let receipts = Receipts::default();
    let mut services = vec![];
    for _ in 0..options.executors {
        services.push(service(&receipts).await);
    }
    let url = |job: usize| format!("{}/bench", services[job % services.len()].address);
    let job = |number: usize| {
        let request = json!({"url": url(number), "body": "{\"run\": {{run_id}}}", "timeout_seconds": 10});
        json!({"app": "bench", "name": format!("job {number}"), "schedule": options.schedule(number), "http": request})
    };
    for first in (0..options.jobs).step_by(1000) {
        let batch: Value = (first..options.jobs.min(first + 1000)).map(job).collect();
        trial.api.post("jobs:batch", batch).await.ok();
    }
    tokio::time::sleep(START).await;
    measure_receipts(&trial.nodes[0], options, || receipts.lock().unwrap().clone()).await.print();
    node::print_scans(&trial.api).await;
    trial.end().await;
}

/// Answers 200 at once, and keeps when it has received which run.
async fn service(receipts: &Receipts) -> HttpStub {
    let (listener, receipts) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), receipts.clone());
    HttpStub::start(listener, move |call: &Call, _: &Reply| {
        receipts.lock().unwrap().push(receipt(call));
        false
    })
}

fn receipt(call: &Call) -> Receipt {
    let number = |name: &str| call.header(name).and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or_default();
    let fire_key = call.header("carillon-fire-key").unwrap_or_default().trim().to_owned();
    let scheduled_at = number("carillon-scheduled-at");
    Receipt {
        run_id: number("carillon-run-id"),
        job_id: fire_key.split(':').next().and_then(|job| job.parse().ok()).unwrap_or_default(),
        scheduled_at,
        due_at: scheduled_at,
        fire_key,
        received_at: call.received_at,
        answered: true,
    }
}
