//! Instants that are reached late: run, coalesced or misfired, and each of them written down exactly once.

use carillon_scheduler::{CatchUp, MisfirePolicy, RunState};
use carillon_store::RunFilter;
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, START, on_node};

fn seconds(node_runs: &[carillon_store::RunView]) -> Vec<i64> {
    node_runs.iter().map(|run| (run.scheduled_at - START) / 1000).collect()
}

// covers: 003-18
#[test]
fn after_a_stall_of_four_seconds_all_instants_run() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        node.clock.advance(std::time::Duration::from_millis(4_500));
        node.round().await;
        assert_eq!(executor.runs().len(), 4, "1, 2, 3 and 4 s, late");
        assert_eq!(seconds(&node.runs(&job).await)[..4], [1, 2, 3, 4]);
        assert!(node.misfires(&job).await.is_empty());
    });
}

// covers: 003-18
#[test]
fn latest_runs_one_and_writes_the_others_down() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |draft| draft.catch_up = CatchUp::Latest).await;
        node.clock.advance(std::time::Duration::from_millis(4_500));
        node.round().await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(executor.runs()[0].json()["logDateTime"], START + 4_000);
        let skipped = node.misfires(&job).await;
        assert_eq!(skipped.len(), 1);
        assert_eq!((skipped[0].from_at, skipped[0].to_at, skipped[0].count), (START + 1_000, START + 3_000, 3));
        assert_eq!(skipped[0].reason, carillon_scheduler::SkipReason::Coalesced);
    });
}

// covers: 003-17
#[test]
fn two_minutes_down_runs_and_misfires_add_up_in_every_policy() {
    for (policy, old_runs) in [
        (MisfirePolicy::Skip, 0),
        (MisfirePolicy::FireOnce, 0),
        (MisfirePolicy::FireAll, 2),
        (MisfirePolicy::FireWithin, 3),
    ] {
        on_node(async |node| {
            let executor = RecordingExecutor::start().await;
            let ten = node
                .every(10, |draft| {
                    draft.misfire = policy;
                    draft.misfire_limit = 2;
                    draft.misfire_window_seconds = 90;
                })
                .await;
            node.clock.advance(std::time::Duration::from_millis(120_500));
            node.register(&executor).await;
            node.round().await;
            let runs = node.runs(&ten).await.iter().filter(|run| run.scheduled_at <= START + 120_000).count() as i64;
            let skipped: i64 = node.misfires(&ten).await.iter().map(|range| i64::from(range.count)).sum();
            assert_eq!(runs + skipped, 12, "{policy}");
            assert_eq!(skipped, 6 - old_runs, "the six instants older than 60 s");
        });
    }
}

// covers: 003-17
#[test]
fn an_instant_ninety_seconds_back_runs_by_policy() {
    for (policy, window, executed) in [
        (MisfirePolicy::Skip, 100, 0),
        (MisfirePolicy::FireOnce, 100, 1),
        (MisfirePolicy::FireAll, 100, 1),
        (MisfirePolicy::FireWithin, 100, 1),
        (MisfirePolicy::FireWithin, 80, 0),
    ] {
        on_node(async |node| {
            let executor = RecordingExecutor::start().await;
            let job = node
                .every(3_600, |draft| {
                    draft.misfire = policy;
                    draft.misfire_window_seconds = window;
                })
                .await;
            node.clock.advance(std::time::Duration::from_secs(3_690));
            node.register(&executor).await;
            node.round().await;
            assert_eq!(executor.runs().len(), executed, "{policy}");
            assert_eq!(node.misfires(&job).await.len(), 1 - executed);
        });
    }
}

#[test]
fn what_was_recorded_and_is_reached_too_late_follows_the_misfire_policy() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let once = node.every(3_600, |_| ()).await;
        node.clock.set(START + 3_598_000);
        let skipping = node.every(1, |draft| draft.misfire = MisfirePolicy::Skip).await;
        node.round().await;
        assert_eq!(node.states(&once).await, [RunState::Claimed]);
        let claimed = node.runs(&skipping).await.len();
        assert_eq!(claimed, 5, "the look-ahead");
        // Everything in memory is lost, and 100 s later another process takes over.
        let config = node.config.clone();
        let later = Node::restarted(node, config, START + 3_700_000).await;
        later.register(&executor).await;
        later.round().await;
        let states = later.states(&skipping).await;
        assert_eq!(states[..claimed], [RunState::Cancelled; 5]);
        assert!(later.runs(&skipping).await[..claimed].iter().all(|run| run.reason.as_deref() == Some("misfire")));
        assert_eq!(later.states(&once).await, [RunState::Running], "the latest of a job that fires once now");
    });
}

#[test]
fn what_was_recorded_follows_the_policies_that_run_several() {
    for (policy, cancelled) in [(MisfirePolicy::FireAll, 3), (MisfirePolicy::FireWithin, 1)] {
        on_node(async |node| {
            let executor = RecordingExecutor::start().await;
            let job = node
                .every(1, |draft| {
                    draft.misfire = policy;
                    draft.misfire_limit = 2;
                    draft.misfire_window_seconds = 68;
                    draft.schedule.max_fires = Some(5);
                })
                .await;
            node.round().await;
            assert_eq!(node.states(&job).await, [RunState::Claimed; 5]);
            let later = Node::restarted(node, node.config.clone(), START + 70_000).await;
            later.register(&executor).await;
            later.round().await;
            let mut expected = vec![RunState::Cancelled; cancelled];
            expected.resize(5, RunState::Running);
            assert_eq!(later.states(&job).await, expected, "{policy}");
        });
    }
}

// covers: R101
#[test]
fn what_a_dead_node_had_recorded_and_what_was_missed_after_it_are_judged_together() {
    for (policy, recorded, missed) in [(MisfirePolicy::FireAll, 0, 5), (MisfirePolicy::FireOnce, 0, 0)] {
        on_node(async |node| {
            let executor = RecordingExecutor::start().await;
            let job = node
                .every(1, |draft| {
                    draft.misfire = policy;
                    draft.misfire_limit = 5;
                })
                .await;
            node.round().await;
            let claimed = node.runs(&job).await.len() as i64;
            assert!(claimed > 2, "the look-ahead");
            let later = Node::restarted(node, node.config.clone(), START + 100_000).await;
            later.register(&executor).await;
            later.round().await;
            let filter = RunFilter { job_id: Some(job.id), limit: 500, ..RunFilter::default() };
            let runs = later.store.runs().list(&filter).await.unwrap().items;
            let sent: Vec<i64> =
                seconds(&runs.into_iter().filter(|run| run.state != RunState::Cancelled).collect::<Vec<_>>());
            let ran = |from: i64, to: i64| sent.iter().filter(|second| (from..=to).contains(second)).count();
            assert_eq!(ran(1, claimed), recorded, "{policy}: recorded before the kill");
            assert_eq!(ran(claimed + 1, 39), missed, "{policy}: missed after it");
        });
    }
}

// covers: 000-14
#[test]
fn what_a_dead_node_had_recorded_is_sent_by_the_next() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = node.every(10, |_| ()).await;
        node.round().await;
        node.advance(8_000).await;
        assert_eq!(node.states(&job).await, [RunState::Claimed]);
        let config = node.config.clone();
        let next = Node::restarted(node, config, START + 10_000).await;
        next.register(&executor).await;
        next.round().await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(next.states(&job).await[0], RunState::Running);
    });
}
