//! The run that reads the results of items.

use carillon_protocol::{MappedItem, Reduction};
use carillon_testkit::{Call, Reply, StubAdmin};
use tempfile::TempDir;

use super::{ended, map_worker};
use crate::worker::Worker;

async fn reduce(admin: &StubAdmin, worker: &Worker) -> i64 {
    admin.reduce(worker.handle.address(), &worker.token, "squares", Reduction { map: 7, items: 5, failed: 1 }).await
}

/// Results 0, 1, 4 …, and a failed item 3.
fn five_items() -> Vec<MappedItem> {
    let item = |item: i32| {
        let (code, text) = if item == 3 { (500, "no \"number\"".to_owned()) } else { (200, (item * item).to_string()) };
        MappedItem { item, code, msg: Some(text), params: format!("[{item}]") }
    };
    (0..5).map(item).collect()
}

fn asked_for(calls: &[Call]) -> Vec<i64> {
    let queries = calls.iter().filter(|call| call.path == "/api/map/items");
    queries.map(|call| call.json()["after"].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_read_page_by_page() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_with_items(five_items(), 2);
    let run = reduce(&admin, &worker).await;
    let text = r#"21 from 5 items, 1 failed: ["3 of [3]: no \"number\""]"#;
    assert_eq!(ended(&admin, run).await, (200, text.to_owned()));
    let calls = admin.calls();
    assert_eq!(asked_for(&calls), [-1, 1, 3, 4], "an empty page is the end");
    let query = calls.iter().find(|call| call.path == "/api/map/items").unwrap();
    assert_eq!(query.body, format!(r#"{{"logId":{run},"after":-1}}"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_results_is_asked_for_again_until_it_comes_or_is_refused() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    admin.reply_to("/api/map/items", Reply::Cut);
    let run = reduce(&admin, &worker).await;
    admin.wait_for("two requests", |calls| asked_for(calls).len() >= 2).await;
    admin.reply_to("/api/map/items", Reply::refused("run 1 reads no items"));
    let reason = "the admin refuses the request for results of items: run 1 reads no items";
    assert_eq!(ended(&admin, run).await, (500, reason.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_no_list_or_repeats_items_fails_the_run() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let repeated = r#"{"code":200,"content":"[{\"item\":0,\"code\":200,\"msg\":\"4\",\"params\":\"[2]\"}]"}"#;
    for (answer, text) in [
        (r#"{"code":200,"content":[]}"#, "the admin's list of results cannot be read: "),
        (r#"{"code":200,"content":null}"#, "the admin's list of results cannot be read: "),
        (repeated, "the admin sent item 0 after item 0"),
    ] {
        admin.reply_to("/api/map/items", Reply::Body(answer.to_owned()));
        let run = reduce(&admin, &worker).await;
        let (code, message) = ended(&admin, run).await;
        assert!(code == 500 && message.starts_with(text), "{message}");
    }
}
