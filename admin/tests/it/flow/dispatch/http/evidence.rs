//! What counts of a run that was sent to a service: neither what executors report, nor what is registered at its address.

use std::time::Duration;

use carillon_scheduler::{Clock as _, HttpDraft, JobDraft, RunState};
use serde_json::json;

use super::service::{Reply, Service, answer, held};
use super::under_way::{begin, is_called};
use super::{fired, job, run_of, with_node};
use crate::conformance::fixture::actor;
use crate::flow::node::Node;

// covers: 001-44
#[test]
fn an_executor_that_registers_the_address_of_a_service_is_not_asked() {
    with_node(async |node| {
        let service = Service::start(answer(200, "", "done")).await;
        node.register_address(service.url.strip_suffix("/hook").unwrap(), None).await;
        let quick = job(node, &service.url, |_, _| {}).await;
        let run = fired(node, &quick).await;
        assert_eq!(run.state, RunState::Succeeded);
        let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap();
        assert!(log.content.starts_with("POST "), "{}", log.content);
        service.reply(Reply::Silence);
        let slow = job(node, &service.url, |_, request| request.timeout_seconds = 60).await;
        begin(node, &slow).await;
        is_called(&service, 2).await;
        let next = Node::restarted(node, node.config.clone(), node.clock.now() + 15_000).await;
        next.round().await;
        next.clock.advance(Duration::from_secs(60));
        next.resolve_later().await;
        next.drain().await;
        let run = run_of(&next, &slow).await;
        assert_eq!(run.message(), "sent, and the node that sent it has not stored an answer");
        assert_eq!(service.received().len(), 2, "asked for no log and no kill");
    });
}

// covers: 001-44
#[test]
fn an_executor_cannot_end_the_run_of_an_http_job() {
    with_node(async |node| {
        let service = Service::start(Reply::Silence).await;
        let job = job(node, &service.url, |_, request| request.timeout_seconds = 60).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        let run = run_of(node, &job).await;
        let body = json!([{"logId": run.id, "logDateTim": 1, "handleCode": 200, "handleMsg": "mine"}]);
        for boot_id in [None, Some("http"), Some("boot")] {
            let mut call = node.http.post(format!("{}/api/callback", node.url)).json(&body);
            call = call.header("XXL-JOB-ACCESS-TOKEN", &node.config.access_token);
            if let Some(boot_id) = boot_id {
                call = call.header("Carillon-Boot-Id", boot_id);
            }
            let answered = node.while_completing(call.send()).await.unwrap();
            assert_eq!(answered.status().as_u16(), 200);
            assert_eq!(node.states(&job).await, [RunState::Sending], "{boot_id:?}");
        }
    });
}

// covers: 001-44
#[test]
fn an_answer_counts_by_the_definition_that_was_sent() {
    with_node(async |node| {
        let (reply, answer_now) = held(404, "gone");
        let service = Service::start(reply).await;
        let job = job(node, &service.url, |_, request| request.expect.status = "404".into()).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        let request = HttpDraft::new("http://127.0.0.1:1/");
        let edited = node.edit(&job, JobDraft { http: Some(request), ..job.draft.clone() }).await;
        answer_now.notify_one();
        node.drain().await;
        let run = run_of(node, &job).await;
        assert_eq!((run.state, run.result_code, run.message().as_str()), (RunState::Succeeded, Some(404), "gone"));
        assert_eq!(run.revision, Some(edited.revision - 1));
    });
}

// covers: 001-44
#[test]
fn the_answer_to_a_request_of_an_earlier_definition_is_awaited_as_long_as_any() {
    with_node(async |node| {
        let service = Service::start(Reply::Silence).await;
        let job = job(node, &service.url, |_, request| request.timeout_seconds = 1_000).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        let request = HttpDraft { timeout_seconds: 1, ..HttpDraft::new("http://127.0.0.1:1/") };
        let job = node.edit(&job, JobDraft { http: Some(request), ..job.draft.clone() }).await;
        let next = Node::restarted(node, node.config.clone(), node.clock.now() + 15_000).await;
        next.round().await;
        next.clock.advance(Duration::from_secs(900));
        next.resolve_later().await;
        next.drain().await;
        assert_eq!(next.states(&job).await, [RunState::Sending], "the answer may still come to the other node");
        next.clock.advance(Duration::from_secs(1_000));
        next.resolve_later().await;
        next.drain().await;
        assert_eq!(next.states(&job).await, [RunState::Unknown]);
    });
}
