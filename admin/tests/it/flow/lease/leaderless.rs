//! Five defects of a scheduler without a centre, which lived on inside others: each must not be one of ours.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, ManualClock, RunState};
use carillon_testkit::{RecordingExecutor, Reply, wait_for};

use crate::flow::lease::leases::database_goes_on;
use crate::flow::node::{AnyService, Node, START, on_node};
use crate::services::{Kind, on};

/// There: an empty result skipped the sleep.
// covers: 004-26, 6.19
#[test]
fn a_round_that_finds_nothing_is_followed_by_a_pause() {
    on_node(async |node| {
        let all = &node.services;
        let mut services: Vec<Arc<dyn AnyService>> = vec![
            all.coordinator.clone(),
            all.scan_poller.clone(),
            all.resolver.clone(),
            all.monitor.clone(),
            all.lease_watcher.clone(),
            all.calendar_follower.clone(),
            all.zone_follower.clone(),
            all.backfill_releaser.clone(),
            all.gap_auditor.clone(),
            all.pruner.clone(),
            all.summarizer.clone(),
            all.overdue_flagger.clone(),
            all.start_watcher.clone(),
            all.alarm_escalator.clone(),
            all.clock_guard.clone(),
            all.refresher.clone(),
            all.pause_refresher.clone(),
            all.dispatcher.clone(),
            all.completer.clone(),
            all.success_writer.clone(),
            all.unmarker.clone(),
        ];
        services.extend(all.scanners.all().iter().map(|scan| scan.clone() as Arc<dyn AnyService>));
        for round in 0..3 {
            for service in &services {
                let pause = service.round().await;
                // The first round of a new holder may look again at once.
                assert!(round == 0 || pause >= Duration::from_millis(50), "{}", service.name());
            }
        }
    });
}

/// There: the thread that looks for stuck runs returned for good when it found none.
// covers: 004-26, 6.19
#[test]
fn the_search_for_stuck_runs_goes_on_after_it_found_none() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        executor.reply(Reply::Status(502));
        node.register(&executor).await;
        for _ in 0..3 {
            node.advance(11_000).await;
            node.services.resolver.step().await;
        }
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Sending]);
        node.advance(11_000).await;
        node.services.resolver.step().await;
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
    });
}

/// There: ids were compared as objects, and equal only while they were small.
// covers: 004-26, 6.19
#[test]
fn ids_are_the_same_however_large_they_are() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let mut jobs = Vec::new();
        for _ in 0..150 {
            jobs.push(node.job(|_| ()).await);
        }
        for job in &jobs {
            node.fire(job).await;
        }
        node.round().await;
        wait_for("all are received", async || executor.runs().len() == 150).await;
        let results: Vec<(i64, i32, &str)> = executor.runs().iter().map(|run| (run.run_id(), 200, "")).collect();
        assert!(results.iter().any(|(id, _, _)| *id > 127));
        node.callback(&results).await;
        for job in &jobs {
            assert_eq!(node.states(job).await, [RunState::Succeeded], "job {}", job.id);
        }
    });
}

/// There: the numbers of the nodes kept a gap when one left, and what fell into the gap belonged to no node.
// covers: 004-26, 6.19
#[test]
fn when_a_node_leaves_its_share_goes_to_those_that_stay() {
    on(Kind::Postgres, async |db| {
        let mut nodes = Vec::new();
        for _ in 0..3 {
            let mut config = db.config();
            config.shards = Some(7);
            // Ahead of the server's own clock, by which leases end.
            let clock = Arc::new(ManualClock::new(START + 2_400_000_000_000));
            nodes.push(Node::on(config, clock).await);
        }
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        share_out(&nodes, &raw).await;
        assert!(nodes.iter().all(|node| node.engine.shards_held().len() >= 2));
        nodes.remove(1);
        share_out(&nodes, &raw).await;
        let mut held: Vec<i32> = nodes.iter().flat_map(|node| node.engine.shards_held()).collect();
        held.sort_unstable();
        assert_eq!(held, [0, 1, 2, 3, 4, 5, 6], "each once");
    });
}

/// Longer than a lease and the seven rounds in which shares are handed back.
async fn share_out(nodes: &[Node], db: &sea_orm::DatabaseConnection) {
    for _ in 0..20 {
        database_goes_on(db, 1_000).await;
        for node in nodes {
            node.clock.advance(Duration::from_secs(1));
            node.renew_leases().await;
        }
    }
}

/// There: every start registered once more.
// covers: 004-26, 6.19
#[test]
fn a_second_start_registers_nothing_twice() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        let again = Node::restarted(node, node.config.clone(), node.clock.now() + 1_000).await;
        again.register(&executor).await;
        let addresses: Vec<String> =
            again.store.apps().executors().await.unwrap().into_iter().map(|executor| executor.address).collect();
        assert_eq!(addresses.len(), 1, "{addresses:?}");
        again.fire(&job).await;
        again.round().await;
        assert_eq!(executor.runs().len(), 1, "one fire, one request");
    });
}
