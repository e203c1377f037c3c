//! Which executor gets a run.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{RouteStrategy, RunState};
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::{Value, json};

use crate::flow::node::Node;
use crate::services::{Kind, on};

pub fn flow(route: RouteStrategy, test: impl AsyncFnOnce(&Node, &[RecordingExecutor], &carillon_store::Job)) {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let mut executors =
            vec![RecordingExecutor::start().await, RecordingExecutor::start().await, RecordingExecutor::start().await];
        executors.sort_by(|a, b| a.address.cmp(&b.address));
        for executor in &executors {
            node.register(executor).await;
        }
        let job = node.job(|draft| draft.route = route).await;
        test(&node, &executors, &job).await;
    });
}

/// A heartbeat of an executor of our own that says something of itself.
pub async fn announce(node: &Node, executor: &RecordingExecutor, headers: &[(&str, &str)]) {
    let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
    let mut call = reqwest::Client::new()
        .post(format!("{}/api/registry", node.url))
        .header("XXL-JOB-ACCESS-TOKEN", &node.config.access_token);
    if !headers.iter().any(|(name, _)| *name == "Carillon-Boot-Id") {
        call = call.header("Carillon-Boot-Id", "boot");
    }
    for (name, value) in headers {
        call = call.header(*name, *value);
    }
    let answer: Value = call.json(&body).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["code"], 200, "{answer}");
    node.services.refresher.step().await;
}

pub fn counts(executors: &[RecordingExecutor]) -> Vec<usize> {
    executors.iter().map(|executor| executor.runs().len()).collect()
}

#[test]
fn round_robin_goes_to_each_in_turn() {
    flow(RouteStrategy::RoundRobin, async |node, executors, job| {
        for _ in 0..6 {
            node.fire(job).await;
            node.round().await;
        }
        assert_eq!(counts(executors), [2, 2, 2]);
    });
}

#[test]
fn first_goes_to_the_first_address_and_on_when_it_is_gone() {
    flow(RouteStrategy::First, async |node, executors, job| {
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [1, 0, 0]);
        executors[0].die().await;
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [1, 1, 0]);
    });
}

#[test]
fn broadcast_gives_each_executor_a_part_of_one_fire() {
    flow(RouteStrategy::Broadcast, async |node, executors, job| {
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [1, 1, 1]);
        for (index, executor) in executors.iter().enumerate() {
            let body = executor.runs()[0].json();
            assert_eq!(
                (body["broadcastIndex"].as_u64(), body["broadcastTotal"].as_u64()),
                (Some(index as u64), Some(3))
            );
        }
        assert_eq!(node.states(job).await, [RunState::Running; 3]);
    });
}

// covers: R099
#[test]
fn r099_a_part_whose_executor_refuses_connections_moves_to_a_live_one_when_it_is_tried_again() {
    flow(RouteStrategy::Broadcast, async |node, executors, _| {
        let job = node
            .job(|draft| {
                draft.route = RouteStrategy::Broadcast;
                draft.retries = 5;
                draft.retry_delay = carillon_scheduler::RetryDelay::Fixed { seconds: vec![2] };
            })
            .await;
        executors[1].stop().await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(counts(executors), [1, 0, 1]);
        node.advance(2_100).await;
        let again =
            executors[0].runs().into_iter().chain(executors[2].runs()).find(|run| run.json()["broadcastIndex"] == 1);
        let again = again.expect("part 1 is on a live executor");
        assert_eq!((again.json()["broadcastTotal"].as_u64(), again.header("Carillon-Attempt")), (Some(3), Some("2")));
        assert_eq!(executors[1].runs().len(), 0);
    });
}

// covers: G20
#[test]
fn a_run_goes_on_to_another_executor_if_the_clock_of_the_first_is_ahead() {
    flow(RouteStrategy::First, async |node, executors, job| {
        executors[0].reply(Reply::refused("expired: 60000 ms too late for this run"));
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [1, 1, 0]);
        assert_eq!(node.states(job).await, [RunState::Running]);
        for executor in &executors[1..] {
            executor.reply(Reply::refused("expired: 60000 ms too late for this run"));
        }
        node.fire(job).await;
        node.round().await;
        let run = node.runs(job).await.pop().unwrap();
        assert_eq!(run.state, RunState::Failed, "all of them say so");
        assert!(run.message().contains("expired"), "{}", run.message());
    });
}

#[test]
fn random_uses_all_of_them() {
    flow(RouteStrategy::Random, async |node, executors, job| {
        for _ in 0..60 {
            node.fire(job).await;
        }
        node.round().await;
        assert_eq!(counts(executors).iter().sum::<usize>(), 60);
        assert!(counts(executors).iter().all(|count| *count > 0), "60 throws miss one of three once in 10^10");
    });
}

// covers: S21
#[test]
fn an_address_given_by_hand_gets_the_run_and_a_foreign_one_is_refused() {
    flow(RouteStrategy::RoundRobin, async |node, executors, job| {
        let ask = |address: &str| carillon_engine::manage::RunRequest {
            parts: None,
            job_id: job.id,
            cause: carillon_scheduler::Cause::Manual,
            params: Some("by hand".into()),
            priority: None,
            address: Some(address.into()),
            idempotency_key: None,
        };
        node.engine.jobs().run(ask(&executors[2].address), &carillon_store::Actor::engine()).await.unwrap();
        node.round().await;
        assert_eq!(counts(executors), [0, 0, 1]);
        assert_eq!(executors[2].runs()[0].json()["executorParams"], "by hand");
        let foreign = RecordingExecutor::start().await;
        let refused =
            node.engine.jobs().run(ask(&foreign.address), &carillon_store::Actor::engine()).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("address: {} is not registered for the job's app", foreign.address));
        node.round().await;
        assert!(foreign.runs().is_empty());
    });
}

#[test]
fn an_executor_whose_lease_is_over_gets_nothing() {
    flow(RouteStrategy::First, async |node, executors, job| {
        // A clock that jumps would look like an outage, after which leases are counted from their start again.
        for second in 0..91 {
            if second == 80 {
                node.register(&executors[1]).await;
            }
            node.advance(1_000).await;
        }
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [0, 1, 0], "004-18: silent for 91 s");
    });
}

pub async fn fires(node: &Node, job: &carillon_store::Job, count: usize) {
    for _ in 0..count {
        node.fire(job).await;
    }
    node.round().await;
}

#[test]
fn last_goes_to_the_last_address() {
    flow(RouteStrategy::Last, async |node, executors, job| {
        fires(node, job, 2).await;
        assert_eq!(counts(executors), [0, 0, 2]);
    });
}
