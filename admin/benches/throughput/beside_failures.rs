//! The same app in three times of one run: alone, beside another app of which every run succeeds, and beside the same while
//! every run fails. The first step shows what the second app's requests cost on this machine, the second what its failures do, and a
//! third one, with `--alerts`, what it costs that a rule makes messages of them.

use std::time::Duration;

use carillon_testkit::{ApiClient, RecordingExecutor, now_ms};
use serde_json::json;

use crate::executors::Executors;
use crate::node;
use crate::options::{Options, every_second};
use crate::report::ClientLatency;
use crate::trial::Trial;

pub async fn measure(options: &Options) {
    let trial = Trial::start(options).await;
    trial.create_jobs(options, options.jobs).await;
    let mut times = vec![next_time(options).await];
    trial.api.post("apps", json!({"name": "failing"})).await.ok();
    let other = Executors::start(&trial.admins, "failing", 1).await;
    node::create_jobs(&trial.api, "failing", options.failing, |_| every_second()).await;
    times.push(next_time(options).await);
    other.fail();
    times.push(next_time(options).await);
    if options.alerts {
        let receiver = alert(&trial.api).await;
        times.push(next_time(options).await);
        println!("messages to the webhook: {}", receiver.received(HOOK).len());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let executors = &trial.executors;
    for (name, time) in ["alone", "beside successes", "beside failures", "with alerts"].into_iter().zip(&times) {
        ClientLatency::of(&executors.receipts(), &executors.callbacks(), *time).print(name);
    }
    for (name, time) in ["the other, succeeding", "the other, failing", "with alerts"].into_iter().zip(&times[1..]) {
        ClientLatency::of(&other.receipts(), &other.callbacks(), *time).print(name);
    }
    trial.end().await;
}

const HOOK: &str = "/hook";

/// A rule for the second app; the receiver of its messages, which are few.
async fn alert(api: &ApiClient) -> RecordingExecutor {
    let receiver = RecordingExecutor::start().await;
    let url = format!("{}{HOOK}", receiver.address.trim_end_matches('/'));
    let channel = json!({"name": "hook", "kind": "webhook", "settings": {"url": url}, "apps": ["failing"]});
    let channel = api.post("alert-channels", channel).await.ok()["id"].take();
    let rule =
        json!({"name": "failures", "app": "failing", "kinds": ["failed"], "channels": [channel], "group_seconds": 10});
    api.post("alert-rules", rule).await.ok();
    receiver
}

/// From when to when, without the first seconds.
async fn next_time(options: &Options) -> (i64, i64) {
    tokio::time::sleep(Duration::from_secs(8)).await;
    let from = now_ms();
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    (from, now_ms())
}
