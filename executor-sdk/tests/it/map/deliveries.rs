//! The items of a delivery and their results.

use carillon_protocol::{BatchRun, ItemResult, MAX_PAGE_BYTES, RunBatch, RunRequest, headers};
use carillon_testkit::{Call, Reply, StubAdmin, item_results};
use tempfile::TempDir;

use super::{deliver, delivery, ended, map_worker};
use crate::worker::run;

/// The results of all items so far, as number, code and text.
fn reported(calls: &[Call]) -> Vec<(i32, i32, String)> {
    let results = item_results(calls).into_iter().flat_map(|report| report.results);
    results.map(|ItemResult { item, code, msg }| (item, code, msg.unwrap_or_default())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_items_are_reported_in_lists_before_the_delivery_ends() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let items: Vec<String> = (1000..1250).map(|number| number.to_string()).collect();
    let run = deliver(&admin, &worker, "numbers", &delivery(1000, items.iter().map(String::as_str))).await;
    assert_eq!(ended(&admin, run).await, (200, "250 items".to_owned()));
    let calls = admin.calls();
    let reports = item_results(&calls);
    assert!((1..=3).contains(&reports.len()), "{} requests for 250 items", reports.len());
    assert!(reports.iter().all(|report| report.log_id == run));
    assert!(reported(&calls).into_iter().eq((1000..1250).map(|item| (item, 200, item.to_string()))));
    let last_report = calls.iter().rposition(|call| call.path == "/api/map/results").unwrap();
    assert!(calls[..last_report].iter().all(|call| call.path != "/api/callback"), "the run's own result comes last");
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_reported_while_other_items_are_executed() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let run = deliver(&admin, &worker, "numbers", &delivery(0, ["first", "wait"])).await;
    let calls = admin.wait_for("the first result", |calls| !reported(calls).is_empty()).await;
    assert_eq!(reported(&calls), [(0, 200, "first".to_owned())]);
    assert!(admin.results().iter().all(|result| result.log_id != run), "the delivery goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_items_fail_the_delivery_and_are_delivered_again() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let item = |number| if [17, 18, 60].contains(&number) { "fail" } else { "key" };
    let run = deliver(&admin, &worker, "numbers", &delivery(0, (0..100).map(item))).await;
    let text = "3 of 100 items failed; item 17: no such image";
    assert_eq!(ended(&admin, run).await, (500, text.to_owned()));
    let first = reported(&admin.calls());
    assert_eq!(first.len(), 100);
    assert_eq!(first[16..18], [(16, 200, "map:7:16".to_owned()), (17, 500, "no such image".to_owned())]);

    // The retry has the items without a success.
    let mut again = delivery(17, ["key", "key"]);
    again.items.extend(delivery(60, ["fail"]).items);
    let run = deliver(&admin, &worker, "numbers", &again).await;
    assert_eq!(ended(&admin, run).await, (500, "1 of 3 items failed; item 60: no such image".to_owned()));
    let second = reported(&admin.calls()).split_off(100);
    let expected = [(17, 200, "map:7:17"), (18, 200, "map:7:18"), (60, 500, "no such image")];
    assert_eq!(second, expected.map(|(item, code, text)| (item, code, text.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_fails_its_item_alone() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let run = deliver(&admin, &worker, "numbers", &delivery(3, ["a", "panic", "b"])).await;
    let text = "handler panicked: nothing is there";
    assert_eq!(ended(&admin, run).await, (500, format!("1 of 3 items failed; item 4: {text}")));
    let expected = [(3, 200, "a"), (4, 500, text), (5, 200, "b")];
    assert_eq!(reported(&admin.calls()), expected.map(|(item, code, text)| (item, code, text.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn results_without_a_clear_answer_are_reported_again() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_to("/api/map/results", Reply::Cut);
    let run = deliver(&admin, &worker, "numbers", &delivery(0, ["a", "b"])).await;
    let calls = admin.wait_for("three reports", |calls| item_results(calls).len() >= 3).await;
    let reports = item_results(&calls);
    assert!(reports.iter().all(|report| *report == reports[0] && report.results.len() == 2), "{reports:?}");
    assert!(admin.results().iter().all(|result| result.log_id != run));
    admin.reply_to("/api/map/results", Reply::Accept);
    assert_eq!(ended(&admin, run).await, (200, "2 items".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn long_results_are_cut_and_reports_have_at_most_one_mebibyte() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_to("/api/map/results", Reply::Cut);
    // The first report cannot be sent until all others wait: 300 results of 8 KB of JSON.
    let items = std::iter::once("long").chain(std::iter::repeat_n("quotes", 300));
    let run = deliver(&admin, &worker, "numbers", &delivery(0, items)).await;
    admin.wait_for("a report", |calls| !item_results(calls).is_empty()).await;
    admin.reply_to("/api/map/results", Reply::Accept);
    assert_eq!(ended(&admin, run).await, (200, "301 items".to_owned()));
    let calls = admin.calls();
    let sizes: Vec<_> =
        calls.iter().filter(|call| call.path == "/api/map/results").map(|call| call.body.len()).collect();
    assert!(sizes.iter().all(|bytes| *bytes <= MAX_PAGE_BYTES), "{sizes:?}");
    assert!(sizes.iter().any(|bytes| *bytes > MAX_PAGE_BYTES - 9_000), "a full one: {sizes:?}");
    let long = &reported(&calls)[0].2;
    assert!(long.len() <= 4096 && long.ends_with("ß..."), "{} bytes", long.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_executed_at_once_if_the_job_says_so() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    // Each item waits for two others.
    let run = deliver(&admin, &worker, "squares", &delivery(0, ["[1,2]", "[3,4]", "[5]", "[6]", "[7]", "[8]"])).await;
    assert_eq!(ended(&admin, run).await, (200, "6 items".to_owned()));
    let mut results = reported(&admin.calls());
    results.sort_unstable();
    assert_eq!(results[..3], [(0, 200, "5"), (1, 200, "25"), (2, 200, "25")].map(|(i, c, t)| (i, c, t.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_carries_the_phase_and_deliveries_of_a_job_queue() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let item = |log_id, strategy: &str, items| {
        let request = RunRequest {
            params: serde_json::to_string(&delivery(0, items)).unwrap(),
            block_strategy: strategy.to_owned(),
            ..run(log_id, "numbers")
        };
        let phase = Some(headers::PHASE_ITEMS.to_owned());
        let fire_key = format!("1:item:7:{log_id}");
        BatchRun { run: request, fire_key, attempt: 1, not_after: i64::MAX, phase, ..BatchRun::default() }
    };
    let runs = vec![
        item(1, "SERIAL_EXECUTION", vec!["wait"]),
        item(2, "DISCARD_LATER", vec!["a"]),
        item(3, "COVER_EARLY", vec!["b", "c"]),
    ];
    let answer = worker.post("/runs", &serde_json::to_value(RunBatch { runs }).unwrap(), &[]).await;
    for entry in answer.body["content"].as_array().unwrap() {
        assert_eq!(entry["code"], 200, "{entry}");
    }
    let kill = [(headers::RUN_ID, "1".to_owned())];
    assert_eq!(worker.post("/kill", &serde_json::json!({"jobId": 1}), &kill).await.code(), 200);
    assert_eq!(ended(&admin, 2).await, (200, "1 items".to_owned()));
    assert_eq!(ended(&admin, 3).await, (200, "2 items".to_owned()));
    assert_eq!(ended(&admin, 1).await.0, 500, "killed by this test alone");
    assert!(ended(&admin, 1).await.1.starts_with("scheduling center kill job."), "{:?}", ended(&admin, 1).await);
}
