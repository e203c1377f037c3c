//! Over the wire: the way of items from the run that hands them in to its end.

use carillon_engine::manage::RunRequest;
use carillon_scheduler::RunState::{Claimed, Failed, Killed, Running, Succeeded};
use carillon_scheduler::{Cause, JobDraft, Overlap, RetryDelay, RouteStrategy};
use carillon_store::{Job, RunFilter, RunView};
use carillon_testkit::{Call, RecordingExecutor};
use serde_json::{Value, json};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, with_registered_executor};
use crate::flow::workflows::steps::Steps;

/// A run that hands in these items, one in a delivery.
pub async fn mapped(node: &Node, items: &[&str], reduce: bool, change: impl FnOnce(&mut JobDraft)) -> (Job, i64) {
    let job = node.job(change).await;
    let root = node.fire(&job).await;
    node.round().await;
    let page = json!({"logId": root, "page": 0, "items": items, "chunk": 1, "reduce": reduce});
    assert_eq!(node.post("api/map", &page).await["code"], 200);
    node.callback(&[(root, 200, "handed in")]).await;
    go_on(node).await;
    (job, root)
}

async fn go_on(node: &Node) {
    node.round().await;
    node.round().await;
}

async fn deliveries(node: &Node, job: &Job) -> Vec<RunView> {
    let filter = RunFilter { job_id: Some(job.id), cause: Some(Cause::Item), limit: 1000, ..RunFilter::default() };
    let mut runs = node.store.runs().list(&filter).await.unwrap().items;
    runs.sort_by_key(|run| (run.part, run.attempt));
    runs
}

async fn run(node: &Node, id: i64) -> RunView {
    node.store.runs().get(id).await.unwrap().unwrap()
}

/// The requests of deliveries by their numbers, and then that of what reads the results: phase and parameters.
fn delivered(executor: &RecordingExecutor) -> Vec<(String, Value)> {
    let phase = |call: &Call| call.header("Carillon-Phase").map(str::to_owned);
    let of_items = executor.runs().into_iter().filter_map(|call| Some((phase(&call)?, call.json())));
    let params = |body: &Value| serde_json::from_str(body["executorParams"].as_str().unwrap()).unwrap();
    let mut all: Vec<(String, Value)> = of_items
        .map(|(phase, body)| {
            assert_eq!((&body["broadcastIndex"], &body["broadcastTotal"]), (&json!(0), &json!(1)));
            (phase, params(&body))
        })
        .collect();
    all.sort_by_key(|(phase, params)| (phase.clone(), params["delivery"].as_i64()));
    all
}

#[test]
fn items_go_to_the_executors_and_their_results_to_a_last_run() {
    with_registered_executor(async |node, executor| {
        // Neither the overlap rule nor the route of the job is that of its items.
        let (job, root) = mapped(node, &["a", "b"], true, |draft| {
            draft.overlap = Overlap::Skip;
            draft.route = RouteStrategy::Broadcast;
        })
        .await;
        assert_eq!(run(node, root).await.state, Running);
        let item = |number: i32, text: &str| json!({"map": root, "delivery": number + 1, "items": [{"item": number, "params": text}]});
        assert_eq!(delivered(executor), [("items".to_owned(), item(0, "a")), ("items".to_owned(), item(1, "b"))]);
        let open = deliveries(node, &job).await;
        assert_eq!(open.iter().map(|run| run.state).collect::<Vec<_>>(), [Running, Running]);
        assert_eq!(node.runs(&job).await.len(), 1, "lists show the run that the items are of");
        let results = json!({"logId": open[0].id, "results": [{"item": 0, "code": 200, "msg": "A"}]});
        assert_eq!(node.post("api/map/results", &results).await["code"], 200);
        node.callback(&[(open[0].id, 200, ""), (open[1].id, 500, "broken")]).await;
        go_on(node).await;
        let reduction = json!({"map": root, "items": 2, "failed": 1});
        assert_eq!(delivered(executor).pop().unwrap(), ("reduce".to_owned(), reduction));
        let reduce = deliveries(node, &job).await.remove(0);
        let read = node.post("api/map/items", &json!({"logId": reduce.id, "after": -1})).await;
        let items: Value = serde_json::from_str(read["data"].as_str().unwrap()).unwrap();
        let failed = json!({"item": 1, "code": 500, "msg": "broken", "params": "b"});
        assert_eq!(items, json!([{"item": 0, "code": 200, "msg": "A", "params": "a"}, failed]));
        node.callback(&[(reduce.id, 200, "A and nothing")]).await;
        go_on(node).await;
        let ended = run(node, root).await;
        assert_eq!((ended.state, ended.result_msg.as_deref()), (Succeeded, Some("A and nothing")));
    });
}

#[test]
fn a_killed_run_ends_its_deliveries_and_begins_no_more() {
    with_registered_executor(async |node, executor| {
        let (job, root) = mapped(node, &["a", "b", "c", "d", "e", "f"], false, |_| ()).await;
        assert_eq!(delivered(executor).len(), 4, "four for each executor");
        node.engine.runs().kill(root, &actor()).await.unwrap();
        go_on(node).await;
        let asked = executor.received("/kill").len();
        assert_eq!(asked, 4);
        let ends: Vec<(i64, i32, &str)> =
            deliveries(node, &job).await.iter().map(|run| (run.id, 500, "killed")).collect();
        node.callback(&ends).await;
        go_on(node).await;
        assert_eq!((run(node, root).await.state, delivered(executor).len()), (Killed, 4));
    });
}

#[test]
fn items_that_have_failed_fail_their_run_and_the_next_fire_goes_its_way() {
    with_registered_executor(async |node, _| {
        let (job, root) = mapped(node, &["a"], false, |draft| {
            draft.overlap = Overlap::Wait;
            draft.retries = 3;
            draft.retry_delay = RetryDelay::Fixed { seconds: vec![0] };
        })
        .await;
        let ask = RunRequest {
            parts: None,
            job_id: job.id,
            cause: Cause::Api,
            params: None,
            priority: None,
            address: None,
            idempotency_key: None,
        };
        let next = node.engine.jobs().run(ask, &actor()).await.unwrap();
        go_on(node).await;
        assert_eq!(run(node, next).await.state, Claimed, "it waits for the end of the items");
        for _ in 0..4 {
            let open = deliveries(node, &job).await.pop().unwrap();
            assert_eq!(open.state, Running);
            node.callback(&[(open.id, 500, "broken")]).await;
            go_on(node).await;
        }
        let ended = run(node, root).await;
        assert_eq!((ended.state, ended.result_msg.as_deref()), (Failed, Some("1 of 1 items failed; item 0: broken")));
        assert_eq!(deliveries(node, &job).await.len(), 4, "the retries of the job");
        assert_eq!(run(node, next).await.state, Running);
    });
}

#[test]
fn a_node_tells_how_many_of_its_items_have_succeeded() {
    with_registered_executor(async |node, _| {
        let steps = Steps::new(node, json!({"each": {}, "sum": {"after": ["each"]}}), |_| ()).await;
        let run_id = steps.fire().await;
        let root = steps.run("each").await.id;
        let page = json!({"logId": root, "page": 0, "items": ["a", "b", "c"], "chunk": 1, "reduce": false});
        assert_eq!(node.post("api/map", &page).await["code"], 200);
        node.callback(&[(root, 200, "handed in")]).await;
        steps.go_on().await;
        for delivery in deliveries(node, steps.job("each")).await {
            node.callback(&[(delivery.id, 200, "")]).await;
            steps.go_on().await;
            let each = steps.view(run_id).await.nodes.remove(0);
            assert_eq!((each.items_succeeded, each.items, each.parts), (i64::from(delivery.part), 3, 1));
        }
        assert_eq!(steps.states(run_id).await, "each succeeded, sum running");
    });
}
