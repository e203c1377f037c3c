//! Routes that spread runs: by hash, weight, load and history.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, RouteStrategy};
use carillon_store::app::executors::ExecutorSettings;
use carillon_testkit::{Reply, wait_for};

use crate::conformance::fixture::actor;
use crate::flow::dispatch::routes::{announce, counts, fires, flow};

// covers: 004-12
#[test]
fn a_job_by_hash_stays_with_its_executor_and_moves_when_that_one_is_gone() {
    flow(RouteStrategy::ConsistentHash, async |node, executors, job| {
        fires(node, job, 5).await;
        let first = counts(executors).iter().position(|count| *count > 0).unwrap();
        assert_eq!(counts(executors)[first], 5);
        executors[first].die().await;
        for _ in 0..3 {
            fires(node, job, 1).await;
        }
        let mut given = counts(executors);
        given.sort_unstable();
        assert_eq!(given, [0, 3, 5], "one other has them all");
    });
}

#[test]
fn a_run_that_belongs_to_one_executor_waits_while_that_one_is_only_busy() {
    flow(RouteStrategy::ConsistentHash, async |node, executors, job| {
        fires(node, job, 1).await;
        let own = executors.iter().find(|executor| !executor.runs().is_empty()).unwrap();
        own.reply(Reply::Never);
        for _ in 0..40 {
            node.fire(job).await;
        }
        node.renew_leases().await;
        node.scan().await;
        node.dispatch().await;
        wait_for("all its slots are taken", || async { own.runs().len() == 33 }).await;
        node.clock.advance(Duration::from_millis(500));
        node.fire(job).await;
        node.scan().await;
        node.dispatch().await;
        assert_eq!(counts(executors).iter().sum::<usize>(), 33, "nobody else gets one");
    });
}

// covers: 004-14
#[test]
fn weights_decide_the_shares_and_an_operator_overrules_what_is_announced() {
    flow(RouteStrategy::Weighted, async |node, executors, job| {
        announce(node, &executors[0], &[("Carillon-Weight", "3")]).await;
        fires(node, job, 100).await;
        let given = counts(executors);
        assert!(given[0].abs_diff(60) <= 2 && given[1].abs_diff(20) <= 2, "{given:?}");
        let set = ExecutorSettings { weight: Some(3), labels: None };
        for executor in [&executors[1], &executors[2]] {
            let (store, now) = (&node.store, node.clock.now());
            store.apps().set_executor_settings(&node.app, &executor.address, &set, now, &actor()).await.unwrap();
        }
        // The next heartbeat does not undo it.
        node.register(&executors[1]).await;
        fires(node, job, 90).await;
        let now = counts(executors);
        let more: Vec<usize> = (0..3).map(|index| now[index] - given[index]).collect();
        assert!(more.iter().all(|runs| runs.abs_diff(30) <= 2), "{more:?}");
    });
}

// covers: 004-13
#[test]
fn least_active_fills_up_the_one_with_the_fewest_open_runs() {
    flow(RouteStrategy::LeastActive, async |node, executors, job| {
        let other = node.job(|draft| draft.route = RouteStrategy::First).await;
        fires(node, &other, 12).await;
        assert_eq!(counts(executors), [12, 0, 0]);
        // They are accepted and go on; so the two others are filled up first.
        node.services.refresher.step().await;
        for _ in 0..6 {
            fires(node, job, 4).await;
            node.services.refresher.step().await;
        }
        let given = counts(executors);
        assert_eq!(given, [12, 12, 12]);
        let runs = executors[1].runs();
        let ended: Vec<(i64, i32, &str)> = runs.iter().map(|run| (run.run_id(), 200, "")).collect();
        node.callback(&ended).await;
        node.services.refresher.step().await;
        fires(node, job, 6).await;
        let more = counts(executors)[1] - given[1];
        assert_eq!(more, 6, "it has ended all of its runs");
    });
}

#[test]
fn least_frequently_and_least_recently_used_give_each_the_same() {
    for route in [RouteStrategy::LeastFrequentlyUsed, RouteStrategy::LeastRecentlyUsed] {
        flow(route, async |node, executors, job| {
            fires(node, job, 30).await;
            assert!(counts(executors).iter().all(|count| count.abs_diff(10) <= 2), "{:?}", counts(executors));
        });
    }
}
