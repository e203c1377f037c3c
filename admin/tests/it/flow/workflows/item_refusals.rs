//! What is refused, and how it is said.

use serde_json::{Value, json};

use super::items::mapped;
use crate::flow::node::with_registered_executor;

fn message(answer: &Value) -> &str {
    assert_eq!(answer["code"], 500, "{answer}");
    answer["msg"].as_str().unwrap()
}

#[test]
fn all_faults_of_a_page_are_named_at_once() {
    with_registered_executor(async |node, _| {
        let long = "x".repeat(16_400);
        let page = json!({"logId": 1, "page": -1, "items": ["a", long], "chunk": 0});
        let faults = "page: is -1; pages are numbered from 0; items: number 1 of this page has more than 16384 bytes in JSON; \
                      chunk: must be between 1 and 1000, or absent";
        assert_eq!(message(&node.post("api/map", &page).await), faults);
        let many: Vec<i32> = (0..1_001).collect();
        let page = json!({"logId": 1, "page": 0, "items": many});
        assert_eq!(message(&node.post("api/map", &page).await), "items: are 1001; a page has at most 1000");
        assert!(message(&node.post("api/map", &json!({"page": 0, "items": []})).await).contains("logId"));
        let results: Vec<Value> = (0..1_001).map(|item| json!({"item": item, "code": 200})).collect();
        let answer = node.post("api/map/results", &json!({"logId": 1, "results": results})).await;
        assert_eq!(message(&answer), "results: are 1001; at most 1000");
    });
}

#[test]
fn a_run_that_no_executor_has_takes_no_items() {
    with_registered_executor(async |node, _| {
        let (_, root) = mapped(node, &["a"], false, |_| ()).await;
        let page = json!({"logId": root, "page": 1, "items": ["b"]});
        assert_eq!(message(&node.post("api/map", &page).await), "logId: is no run that an executor works on");
        let answer = node.post("api/map/items", &json!({"logId": root, "after": -1})).await;
        assert_eq!(message(&answer), "logId: is no run that items were delivered to");
    });
}
