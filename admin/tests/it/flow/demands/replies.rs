//! Demands 22 to 25 and 31: what executors answer to a run.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{BlockStrategy, RunState};
use carillon_store::Actor;
use carillon_testkit::wait_for;
use serde_json::{Value, json};

use super::published::{Published, Reply, accepted, aiohttp_error, go, java, json_type, untyped};
use super::raw::{report, token};
use crate::flow::node::{Node, on_node};

type Typed = fn(&Value) -> Reply;

const TYPES: [(&str, Typed); 4] = [("Java", java), ("Go", go), ("Python", json_type), ("no type", untyped)];

/// A run of a new job: its state and text after the executor has answered.
async fn sent(node: &Node) -> (RunState, String) {
    let job = node.job(|_| ()).await;
    node.fire(&job).await;
    node.round().await;
    let run = node.runs(&job).await.remove(0);
    (run.state, run.message())
}

#[test]
fn an_answer_is_read_by_its_content_whatever_type_it_has() {
    for (client, typed) in TYPES {
        on_node(async |node| {
            let executor = Published::always(typed(&accepted())).await;
            executor.register(node).await;
            assert_eq!(sent(node).await, (RunState::Running, String::new()), "{client}");
        });
        on_node(async |node| {
            let refusal = json!({"code": 500, "msg": "job handler [handle] not found."});
            let executor = Published::always(typed(&refusal)).await;
            executor.register(node).await;
            let refused = (RunState::Failed, "job handler [handle] not found.".to_owned());
            assert_eq!(sent(node).await, refused, "{client}");
        });
    }
}

#[test]
fn the_page_of_a_log_is_found_under_content_and_under_data() {
    let page = json!({"fromLineNum": 1, "toLineNum": 1, "logContent": "a line", "isEnd": false});
    // 2.x and most clients; 3.x; pyxxl.
    for members in [vec!["content"], vec!["data"], vec!["content", "data"]] {
        for (client, typed) in TYPES {
            let mut answer = accepted();
            members.iter().for_each(|member| answer[*member] = page.clone());
            on_node(async |node| {
                let executor = Published::always(typed(&answer)).await;
                executor.register(node).await;
                let run = node.fire(&node.job(|_| ()).await).await;
                node.round().await;
                let log = node.engine.runs().log(run, 1, &Actor::engine()).await.unwrap();
                assert_eq!(log.content, "a line", "{client} {members:?}");
            });
        }
    }
}

#[test]
fn the_list_that_go_answers_is_a_refusal_with_the_text_of_its_first_item() {
    on_node(async |node| {
        let list = json!([
            {"logId": 1, "logDateTim": 1, "handleCode": 500, "handleMsg": "There are tasks running"},
            {"logId": 2, "logDateTim": 1, "handleCode": 200, "handleMsg": "another"},
        ]);
        let executor = Published::always(go(&list)).await;
        executor.register(node).await;
        assert_eq!(sent(node).await, (RunState::Failed, "There are tasks running".to_owned()));
    });
}

#[test]
fn a_page_of_an_error_leaves_open_whether_the_run_was_taken() {
    on_node(async |node| {
        let executor = Published::always(aiohttp_error()).await;
        executor.register(node).await;
        let jobs = [node.job(|_| ()).await, node.job(|_| ()).await];
        let taken = node.fire(&jobs[0]).await;
        node.fire(&jobs[1]).await;
        node.round().await;
        for job in &jobs {
            assert_eq!(node.states(job).await, [RunState::Sending], "it is not sent again, and not failed");
        }
        // A proxy has written the page: the executor has the run.
        let body = format!(r#"[{{"logId":{taken},"logDateTim":1,"handleCode":200,"handleMsg":"done"}}]"#);
        assert!(report(node, &[&token(node)], &body).await.is_success());
        assert_eq!(node.states(&jobs[0]).await, [RunState::Succeeded]);
        node.clock.advance(Duration::from_secs(11));
        node.round().await;
        node.services.resolver.step().await;
        node.drain().await;
        assert_eq!(node.states(&jobs[1]).await, [RunState::Unknown]);
        let runs = executor.requests().iter().filter(|(path, _)| path == "/run").count();
        assert_eq!(runs, 2, "each was sent once");
    });
}

#[test]
fn a_result_that_overtakes_the_answer_to_its_run_stays_when_the_answer_comes() {
    on_node(async |node| {
        // As xxljob-sdk-rs discards a run: it accepts it, and reports a failure.
        let executor = Published::always(json_type(&accepted())).await;
        executor.register(node).await;
        executor.answer_runs(false);
        let job = node.job(|draft| draft.block = BlockStrategy::DiscardLater).await;
        node.round().await;
        let run = node.fire(&job).await;
        node.scan().await;
        node.dispatch().await;
        wait_for("the request is there", async || !executor.requests().is_empty()).await;
        assert_eq!(node.states(&job).await, [RunState::Sending]);
        let body = format!(r#"[{{"logId":{run},"logDateTim":1,"handleCode":500,"handleMsg":"Discard the job"}}]"#);
        assert!(report(node, &[&token(node)], &body).await.is_success());
        let failed = async || {
            let run = node.runs(&job).await.remove(0);
            assert_eq!((run.state, run.message().as_str()), (RunState::Failed, "Discard the job"));
        };
        failed().await;
        executor.answer_runs(true);
        node.drain().await;
        failed().await;
    });
}

#[test]
fn a_discarded_run_fails_with_its_text_whether_it_is_refused_or_reported() {
    on_node(async |node| {
        let text = "block strategy effect：Discard Later";
        let executor = Published::always(java(&json!({"code": 500, "msg": text}))).await;
        executor.register(node).await;
        let job = node.job(|draft| draft.block = BlockStrategy::DiscardLater).await;
        node.fire(&job).await;
        node.round().await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("refused")));
        assert_eq!(run.message(), text);
    });
    on_node(async |node| {
        let executor = Published::always(json_type(&accepted())).await;
        executor.register(node).await;
        let job = node.job(|draft| draft.block = BlockStrategy::DiscardLater).await;
        let (first, second) = (node.fire(&job).await, node.fire(&job).await);
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Running, RunState::Running]);
        let body = format!(r#"[{{"logId":{second},"logDateTim":1,"handleCode":500,"handleMsg":"Discard the job"}}]"#);
        assert!(report(node, &[&token(node)], &body).await.is_success());
        let state = async |run| node.store.runs().get(run).await.unwrap().unwrap().state;
        assert_eq!((state(first).await, state(second).await), (RunState::Running, RunState::Failed));
    });
}
