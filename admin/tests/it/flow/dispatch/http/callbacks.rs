//! Services that answer 202: their runs go on until the callback, or until its time is over.

use std::time::Duration;

use carillon_engine::manage::KillResult;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::RunState;
use serde_json::{Value, json};

use super::service::{Service, answer};
use super::{fired, job, run_of, with_node};
use crate::conformance::fixture::actor;
use crate::flow::node::Node;

/// A job whose service has taken its only run, and the path of the callback.
async fn taken(node: &Node, service: &Service) -> (carillon_store::Job, String) {
    let job = job(node, &service.url, |_, request| request.callback_seconds = Some(60)).await;
    assert_eq!(fired(node, &job).await.state, RunState::Running);
    (job, path_of(node, service))
}

/// Of the last request.
fn path_of(node: &Node, service: &Service) -> String {
    let request = service.received().pop().unwrap();
    let url = request.lines().find_map(|line| line.strip_prefix("carillon-callback: ")).unwrap().to_owned();
    url.strip_prefix(&format!("{}/", node.url)).unwrap_or_else(|| panic!("{url}")).to_owned()
}

async fn report(node: &Node, path: &str, body: Value) -> Value {
    node.while_completing(node.post_with(path, &[], &body)).await
}

// covers: 001-44
#[test]
fn a_callback_ends_the_run_and_counts_once() {
    with_node(async |node| {
        let service = Service::start(answer(202, "", "taken")).await;
        let (job, path) = taken(node, &service).await;
        let run = run_of(node, &job).await;
        let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap();
        assert!(log.content.contains("HTTP 202") && log.content.contains(".***"), "{}", log.content);
        let done = report(node, &path, json!({"code": 200, "result": {"rows": 7}})).await;
        assert_eq!(done, json!({"run": run.id, "state": "succeeded"}));
        let run = run_of(node, &job).await;
        assert_eq!(
            (run.state, run.result_code, run.result_msg.as_deref()),
            (RunState::Succeeded, Some(200), Some("{\"rows\":7}"))
        );
        let again = report(node, &path, json!({"code": 500, "result": "no"})).await;
        assert_eq!(again["state"], "succeeded", "its end counts once");
        assert_eq!(run_of(node, &job).await, run);
        assert_eq!(service.received().len(), 1);
    });
}

// covers: 001-44
#[test]
fn a_secret_in_the_result_of_a_callback_is_masked() {
    with_node(async |node| {
        node.engine.app_secrets().set(node.app.id, "KEY", "s3cret-of-the-app", &actor()).await.unwrap();
        let service = Service::start(answer(202, "", "taken")).await;
        let job = job(node, &service.url, |_, request| {
            request.callback_seconds = Some(60);
            request.headers.insert("X-Key".into(), "{{secret.KEY}}".into());
        })
        .await;
        assert_eq!(fired(node, &job).await.state, RunState::Running);
        let path = path_of(node, &service);
        let done = report(node, &path, json!({"code": 500, "result": "refused: X-Key: s3cret-of-the-app"})).await;
        assert_eq!(done["state"], "failed");
        assert_eq!(run_of(node, &job).await.message(), "refused: X-Key: ***");
    });
}

// covers: 001-44
#[test]
fn a_callback_with_a_wrong_signature_is_of_no_run() {
    with_node(async |node| {
        let service = Service::start(answer(202, "", "")).await;
        let (job, path) = taken(node, &service).await;
        let (front, mac) = path.rsplit_once('.').unwrap();
        let other = if mac.ends_with('0') { "1" } else { "0" };
        for wrong in [
            front.to_owned(),
            format!("{front}.{}", "0".repeat(mac.len())),
            format!("{}{other}", &path[..path.len() - 1]),
        ] {
            let refused = report(node, &wrong, json!({"code": 200})).await;
            assert_eq!(refused["error"]["code"], "not_found", "{wrong}: {refused}");
        }
        let refused = report(node, &path, json!({"state": "done"})).await;
        assert_eq!(refused["error"]["field"], "body", "{refused}");
        assert_eq!(node.states(&job).await, [RunState::Running]);
        let failed = report(node, &path, json!({"code": 17, "result": "no"})).await;
        assert_eq!(failed["state"], "failed");
        let run = run_of(node, &job).await;
        assert_eq!((run.reason.as_deref(), run.result_code, run.message().as_str()), (Some("result"), Some(17), "no"));
    });
}

// covers: 001-44
#[test]
fn a_run_without_a_callback_fails_when_its_time_is_over() {
    with_node(async |node| {
        let service = Service::start(answer(202, "", "")).await;
        let (job, path) = taken(node, &service).await;
        let looked_after = async |seconds| {
            node.clock.advance(Duration::from_secs(seconds));
            node.renew_leases().await;
            node.services.monitor.step().await;
            node.drain().await;
            run_of(node, &job).await
        };
        assert_eq!(looked_after(50).await.state, RunState::Running, "no executor is there, and the run is not lost");
        let run = looked_after(15).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("timeout")));
        assert_eq!(run.message(), "the service answered 202 and did not report the end within 60 s");
        assert_eq!(report(node, &path, json!({})).await["state"], "failed", "it comes too late");
    });
}

// covers: 001-44
#[test]
fn a_run_whose_callback_is_awaited_can_be_killed() {
    with_node(async |node| {
        let service = Service::start(answer(202, "", "")).await;
        let (job, _) = taken(node, &service).await;
        let run = run_of(node, &job).await;
        assert_eq!(node.engine.runs().kill(run.id, &actor()).await.unwrap(), KillResult::Asked);
        node.clock.advance(Duration::from_secs(31));
        node.renew_leases().await;
        node.services.monitor.step().await;
        carillon_testkit::wait_for("the run is killed", async || {
            node.drain().await;
            node.states(&job).await == [RunState::Killed]
        })
        .await;
    });
}

// covers: 001-44
#[test]
fn without_a_time_for_the_callback_202_is_an_answer_like_any_other() {
    with_node(async |node| {
        let service = Service::start(answer(202, "", "taken")).await;
        let job = job(node, &service.url, |_, _| {}).await;
        assert_eq!(fired(node, &job).await.state, RunState::Succeeded);
        assert!(!service.received()[0].contains("carillon-callback"));
    });
}
