//! Requests without an answer that are sent again, to a service that does each once.

use std::time::Duration;

use carillon_engine::manage::KillResult;
use carillon_scheduler::{Clock as _, RunState};

use super::service::{Reply, Service, answer};
use super::under_way::{begin, is_called};
use super::{fired, job, run_of, with_node};
use crate::conformance::fixture::actor;
use crate::flow::node::Node;

/// The resolver has looked after the time for the answer, and what it has sent has an answer.
async fn resolved(node: &Node) {
    node.clock.advance(Duration::from_secs(30));
    node.resolve_later().await;
    node.drain().await;
}

/// The header that tells a repetition.
fn key(request: &str) -> &str {
    request.lines().find_map(|line| line.strip_prefix("idempotency-key: ")).unwrap()
}

// covers: 001-44
#[test]
fn a_request_without_an_answer_is_sent_again_and_its_row_says_so() {
    with_node(async |node| {
        let service = Service::start(Reply::Cut).await;
        let job = job(node, &service.url, |_, request| request.idempotent = true).await;
        assert_eq!(fired(node, &job).await.state, RunState::Sending, "nothing is decided yet");
        service.reply(answer(200, "", "done"));
        resolved(node).await;
        carillon_testkit::wait_for("the run has ended", async || {
            node.drain().await;
            node.states(&job).await == [RunState::Succeeded]
        })
        .await;
        let run = run_of(node, &job).await;
        assert_eq!((run.sends, run.message().as_str()), (2, "done"));
        let received = service.received();
        assert_eq!((received.len(), key(&received[0])), (2, key(&received[1])));
    });
}

// covers: 001-44
#[test]
fn after_four_requests_the_run_is_unknown() {
    with_node(async |node| {
        let service = Service::start(Reply::Cut).await;
        let job = job(node, &service.url, |_, request| request.idempotent = true).await;
        fired(node, &job).await;
        for count in 2..=4 {
            resolved(node).await;
            is_called(&service, count).await;
        }
        resolved(node).await;
        let run = run_of(node, &job).await;
        assert_eq!((run.state, run.sends), (RunState::Unknown, 4));
        assert_eq!(run.message(), "sent several times, and no answer came");
        assert_eq!(service.received().len(), 4);
    });
}

// covers: 001-44
#[test]
fn a_run_whose_kill_was_asked_for_is_not_sent_again() {
    with_node(async |node| {
        let service = Service::start(Reply::Cut).await;
        let job = job(node, &service.url, |_, request| request.idempotent = true).await;
        let run = fired(node, &job).await;
        assert_eq!(run.state, RunState::Sending);
        assert_eq!(node.engine.runs().kill(run.id, &actor()).await.unwrap(), KillResult::Asked);
        service.reply(answer(200, "", "done"));
        carillon_testkit::wait_for("the run is killed", async || {
            resolved(node).await;
            node.states(&job).await == [RunState::Killed]
        })
        .await;
        assert_eq!(service.received().len(), 1);
    });
}

// covers: 001-44
#[test]
fn the_request_of_a_node_that_was_killed_is_sent_again_by_the_next_one() {
    with_node(async |node| {
        let service = Service::start(Reply::Silence).await;
        let job = job(node, &service.url, |_, request| request.idempotent = true).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        service.reply(answer(200, "", "done"));
        let next = Node::restarted(node, node.config.clone(), node.clock.now() + 15_000).await;
        next.round().await;
        resolved(&next).await;
        carillon_testkit::wait_for("the run has ended", async || {
            next.drain().await;
            next.states(&job).await == [RunState::Succeeded]
        })
        .await;
        assert_eq!(service.received().len(), 2);
    });
}
