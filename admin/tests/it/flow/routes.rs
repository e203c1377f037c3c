//! Which executor gets a run.

use std::time::Duration;

use carillon_admin::runtime::Service as _;
use carillon_admin::store::executor::Traits;
use carillon_scheduler::{Clock as _, RouteStrategy, RunState};
use serde_json::{Value, json};

use super::node::{Node, until};
use super::recorder::{Recorder, Reply};
use crate::conformance::world::actor;
use crate::services::{Kind, on};

pub fn flow(
    route: RouteStrategy,
    test: impl AsyncFnOnce(&Node, &[Recorder], &carillon_admin::store::Job),
) {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let mut executors = vec![
            Recorder::start().await,
            Recorder::start().await,
            Recorder::start().await,
        ];
        executors.sort_by(|a, b| a.address.cmp(&b.address));
        for executor in &executors {
            node.register(executor).await;
        }
        let job = node.job(|draft| draft.route = route).await;
        test(&node, &executors, &job).await;
    });
}

/// A heartbeat of an executor of our own that says something of itself.
pub async fn announce(node: &Node, executor: &Recorder, headers: &[(&str, &str)]) {
    let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
    let mut call = reqwest::Client::new()
        .post(format!("{}/api/registry", node.url))
        .header("XXL-JOB-ACCESS-TOKEN", &node.config.access_token)
        .header("Carillon-Boot-Id", "boot");
    for (name, value) in headers {
        call = call.header(*name, *value);
    }
    let answer: Value = call.json(&body).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["code"], 200, "{answer}");
    node.services.registry.step().await;
}

pub fn counts(executors: &[Recorder]) -> Vec<usize> {
    executors
        .iter()
        .map(|executor| executor.runs().len())
        .collect()
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
            let body = &executor.runs()[0].body;
            assert_eq!(
                (
                    body["broadcastIndex"].as_u64(),
                    body["broadcastTotal"].as_u64()
                ),
                (Some(index as u64), Some(3))
            );
        }
        assert_eq!(node.states(job).await, [RunState::Running; 3]);
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
        assert!(
            counts(executors).iter().all(|count| *count > 0),
            "60 throws miss one of three once in 10^10"
        );
    });
}

#[test]
fn an_address_given_by_hand_gets_the_run_and_a_foreign_one_is_refused() {
    flow(RouteStrategy::RoundRobin, async |node, executors, job| {
        let ask = |address: &str| carillon_admin::pipeline::Fire {
            job_id: job.id,
            cause: carillon_scheduler::Cause::Manual,
            params: Some("by hand".into()),
            address: Some(address.into()),
            idempotency_key: None,
        };
        node.pipeline
            .fire(ask(&executors[2].address))
            .await
            .unwrap();
        node.round().await;
        assert_eq!(counts(executors), [0, 0, 1]);
        assert_eq!(executors[2].runs()[0].body["executorParams"], "by hand");
        let foreign = Recorder::start().await;
        let refused = node.pipeline.fire(ask(&foreign.address)).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("{} is not registered for the job's app", foreign.address)
        );
        node.round().await;
        assert!(foreign.runs().is_empty());
    });
}

#[test]
fn an_executor_whose_lease_is_over_gets_nothing() {
    flow(RouteStrategy::First, async |node, executors, job| {
        // A clock that jumps would look like an outage, after which leases count anew.
        for second in 0..91 {
            if second == 80 {
                node.register(&executors[1]).await;
            }
            node.advance(1_000).await;
        }
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [0, 1, 0], "m004_18: silent for 91 s");
    });
}

async fn fires(node: &Node, job: &carillon_admin::store::Job, count: usize) {
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

#[test]
fn m004_12_a_job_by_hash_stays_with_its_executor_and_moves_when_that_one_is_gone() {
    flow(
        RouteStrategy::ConsistentHash,
        async |node, executors, job| {
            fires(node, job, 5).await;
            let first = counts(executors)
                .iter()
                .position(|count| *count > 0)
                .unwrap();
            assert_eq!(counts(executors)[first], 5);
            executors[first].die().await;
            for _ in 0..3 {
                fires(node, job, 1).await;
            }
            let mut given = counts(executors);
            given.sort_unstable();
            assert_eq!(given, [0, 3, 5], "one other has them all");
        },
    );
}

#[test]
fn a_run_that_belongs_to_one_executor_waits_while_that_one_is_only_busy() {
    flow(
        RouteStrategy::ConsistentHash,
        async |node, executors, job| {
            fires(node, job, 1).await;
            let own = executors
                .iter()
                .find(|executor| !executor.runs().is_empty())
                .unwrap();
            own.reply(Reply::Never);
            for _ in 0..40 {
                node.fire(job).await;
            }
            node.services.shards.step().await;
            for scan in &node.services.scans {
                scan.step().await;
            }
            node.services.tick.step().await;
            until("all its slots are taken", || async {
                own.runs().len() == 33
            })
            .await;
            node.clock.advance(Duration::from_millis(500));
            node.fire(job).await;
            for scan in &node.services.scans {
                scan.step().await;
            }
            node.services.tick.step().await;
            assert_eq!(
                counts(executors).iter().sum::<usize>(),
                33,
                "nobody else gets one"
            );
        },
    );
}

#[test]
fn m004_14_weights_decide_the_shares_and_an_operator_overrules_what_is_announced() {
    flow(RouteStrategy::Weighted, async |node, executors, job| {
        announce(node, &executors[0], &[("Carillon-Weight", "3")]).await;
        fires(node, job, 100).await;
        let given = counts(executors);
        assert!(
            given[0].abs_diff(60) <= 2 && given[1].abs_diff(20) <= 2,
            "{given:?}"
        );
        let set = Traits {
            weight: Some(3),
            labels: None,
        };
        for executor in [&executors[1], &executors[2]] {
            let (store, now) = (&node.store, node.clock.now());
            store
                .set_executor_traits(&node.app, &executor.address, &set, now, &actor())
                .await
                .unwrap();
        }
        // The next heartbeat does not undo it.
        node.register(&executors[1]).await;
        fires(node, job, 90).await;
        let now = counts(executors);
        let more: Vec<usize> = (0..3).map(|index| now[index] - given[index]).collect();
        assert!(more.iter().all(|runs| runs.abs_diff(30) <= 2), "{more:?}");
    });
}

#[test]
fn m004_13_least_active_fills_up_the_one_with_the_fewest_open_runs() {
    flow(RouteStrategy::LeastActive, async |node, executors, job| {
        let other = node.job(|draft| draft.route = RouteStrategy::First).await;
        fires(node, &other, 12).await;
        assert_eq!(counts(executors), [12, 0, 0]);
        // They are accepted and go on; so the two others are filled up first.
        node.services.registry.step().await;
        for _ in 0..6 {
            fires(node, job, 4).await;
            node.services.registry.step().await;
        }
        let given = counts(executors);
        assert!(
            given.iter().all(|count| count.abs_diff(12) <= 1),
            "the first ones went before anybody had counted: {given:?}"
        );
        let runs = executors[1].runs();
        let ended: Vec<(i64, i32, &str)> = runs.iter().map(|run| (run.run_id(), 200, "")).collect();
        node.callback(&ended).await;
        node.services.registry.step().await;
        fires(node, job, 6).await;
        let more = counts(executors)[1] - given[1];
        assert_eq!(more, 6, "it has ended all of its runs");
    });
}

#[test]
fn least_frequently_and_least_recently_used_give_each_the_same() {
    for route in [
        RouteStrategy::LeastFrequentlyUsed,
        RouteStrategy::LeastRecentlyUsed,
    ] {
        flow(route, async |node, executors, job| {
            fires(node, job, 30).await;
            assert!(
                counts(executors)
                    .iter()
                    .all(|count| count.abs_diff(10) <= 2),
                "{:?}",
                counts(executors)
            );
        });
    }
}

#[test]
fn labels_restrict_every_route_and_the_route_by_label_takes_turns() {
    flow(RouteStrategy::First, async |node, executors, _| {
        announce(
            node,
            &executors[1],
            &[("Carillon-Labels", "zone=eu, gpu=yes")],
        )
        .await;
        announce(
            node,
            &executors[2],
            &[("Carillon-Labels", "gpu=yes,zone=us")],
        )
        .await;
        let with = async |route, labels: &str| {
            node.job(|draft| (draft.route, draft.route_labels) = (route, labels.to_owned()))
                .await
        };
        fires(node, &with(RouteStrategy::First, "zone=us").await, 1).await;
        assert_eq!(counts(executors), [0, 0, 1]);
        fires(node, &with(RouteStrategy::Label, "gpu=yes").await, 4).await;
        assert_eq!(counts(executors), [0, 2, 3]);
        let nowhere = with(RouteStrategy::RoundRobin, "gpu=yes,zone=asia").await;
        fires(node, &nowhere, 1).await;
        node.advance(1_001).await;
        let runs = node.runs(&nowhere).await;
        assert_eq!(runs[0].state, RunState::Failed);
        assert_eq!(
            runs[0].message(),
            "no executor of app orders has the labels gpu=yes,zone=asia"
        );
    });
}

#[test]
fn a_sticky_job_stays_where_it_is_also_when_another_node_takes_over() {
    flow(RouteStrategy::Sticky, async |node, executors, job| {
        fires(node, job, 3).await;
        let first = counts(executors)
            .iter()
            .position(|count| *count > 0)
            .unwrap();
        assert_eq!(counts(executors)[first], 3);
        executors[first].die().await;
        fires(node, job, 1).await;
        fires(node, job, 2).await;
        let second = (0..3)
            .find(|index| *index != first && counts(executors)[*index] > 0)
            .unwrap();
        assert_eq!(counts(executors)[second], 3);
        assert_eq!(
            node.store.sticky(&[job.id]).await.unwrap(),
            [(job.id, executors[second].address.clone())]
        );
        // A new process, which has never routed it: it does not go back to where the hash would send it.
        let later = node.clock.now() + 20_000;
        let after = Node::restarted(node, node.config.clone(), later).await;
        for _ in 0..2 {
            after.fire(job).await;
            after.round().await;
        }
        assert_eq!(counts(executors)[second], 5, "{:?}", counts(executors));
        after
            .store
            .delete_job(job.id, later, &actor())
            .await
            .unwrap();
        assert_eq!(after.store.sticky(&[job.id]).await.unwrap(), []);
    });
}

#[test]
fn m004_17_who_has_missed_two_heartbeats_comes_after_all_others() {
    flow(RouteStrategy::First, async |node, executors, job| {
        for second in 0..65 {
            if second == 30 {
                node.register(&executors[1]).await;
                node.register(&executors[2]).await;
            }
            node.advance(1_000).await;
        }
        fires(node, job, 1).await;
        assert_eq!(
            counts(executors),
            [0, 1, 0],
            "the first is suspect, but not dead"
        );
    });
}
