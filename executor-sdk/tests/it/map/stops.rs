//! Map runs and deliveries that are killed, and deliveries that the admin wants no results of.

use carillon_protocol::{ItemResult, headers};
use carillon_testkit::{Reply, StubAdmin, item_results, map_pages};
use serde_json::json;
use tempfile::TempDir;

use super::{deliver, delivery, ended, map_worker, start};
use crate::worker::Worker;

const KILLED: &str = "scheduling center kill job. [job running, killed]";

async fn kill(worker: &Worker, run_id: i64) {
    let header = [(headers::RUN_ID, run_id.to_string())];
    assert_eq!(worker.post("/kill", &json!({"jobId": 1}), &header).await.code(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_delivery_starts_no_further_item_and_reports_those_that_have_ended() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let run = deliver(&admin, &worker, "numbers", &delivery(0, ["a", "b", "wait", "c", "d"])).await;
    admin.wait_for("the first results", |calls| !item_results(calls).is_empty()).await;
    kill(&worker, run).await;
    let text = format!("{KILLED}: stopped after 3 of 5 items, 1 failed; item 2: stopped");
    assert_eq!(ended(&admin, run).await, (500, text));
    let results: Vec<_> = item_results(&admin.calls()).into_iter().flat_map(|report| report.results).collect();
    let ended: Vec<_> = results.iter().map(|ItemResult { item, code, .. }| (*item, *code)).collect();
    assert_eq!(ended, [(0, 200), (1, 200), (2, 500)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_delivery_waits_two_seconds_for_an_admin() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_to("/api/map/results", Reply::Status(503));
    let run = deliver(&admin, &worker, "numbers", &delivery(0, ["a"])).await;
    admin.wait_for("a report", |calls| !item_results(calls).is_empty()).await;
    kill(&worker, run).await;
    let (code, text) = ended(&admin, run).await;
    // Later than that, the run would be dropped without a text of its own.
    let start = format!("{KILLED}: cancelled before an admin took the results of items: ");
    assert!(code == 500 && text.starts_with(&start) && text.contains("HTTP 503"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_an_admin_to_take_its_items_can_be_killed() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_to("/api/map", Reply::Status(503));
    let run = start(&admin, &worker, "numbers", "10").await;
    admin.wait_for("a page", |calls| !map_pages(calls).is_empty()).await;
    kill(&worker, run).await;
    let (code, text) = ended(&admin, run).await;
    let start = format!("{KILLED}: cancelled before an admin took the items of this run");
    assert!(code == 500 && text.starts_with(&start), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_whose_results_are_refused_ends_with_the_reason() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_to("/api/map/results", Reply::refused("run 3 has ended"));
    let run = deliver(&admin, &worker, "numbers", &delivery(0, ["a", "wait", "b"])).await;
    let reason = "the admin refuses the results of items: run 3 has ended";
    assert_eq!(ended(&admin, run).await, (500, reason.to_owned()), "the item that waits is cancelled");
    assert_eq!(item_results(&admin.calls()).len(), 1, "a refusal is final");
}
