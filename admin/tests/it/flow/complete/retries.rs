//! A further attempt is a run of its own.

use carillon_scheduler::{Clock as _, RetryDelay, RouteStrategy, RunState};
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_testkit::{RecordingExecutor, Reply};

use crate::flow::node::{Node, on_node, with_registered_executor};

// covers: 002-36
#[test]
fn a_failed_run_is_tried_again_after_its_delay() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|draft| draft.retries = 1).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        node.callback(&[(run_id, 500, "no luck")]).await;
        let runs = node.runs(&job).await;
        assert_eq!(
            runs.iter().map(|run| (run.state, run.attempt)).collect::<Vec<_>>(),
            [(RunState::Failed, 1), (RunState::Claimed, 2)]
        );
        let delay = runs[1].due_at - runs[0].due_at;
        assert!((4_000..=6_000).contains(&delay), "5 s ± 20 %: {delay}");
        assert_eq!((runs[1].scheduled_at, runs[1].fire_no), (runs[0].scheduled_at, runs[0].fire_no));
        node.advance(delay as u64 - 500).await;
        assert_eq!(executor.runs().len(), 1, "not yet");
        node.advance(700).await;
        let again = &executor.runs()[1];
        assert_eq!((again.run_id(), again.header("Carillon-Attempt")), (runs[1].id, Some("2")));
        assert_eq!(again.header("Carillon-Fire-Key"), executor.runs()[0].header("Carillon-Fire-Key"));
        node.callback(&[(runs[1].id, 500, "again")]).await;
        assert_eq!(node.states(&job).await, [RunState::Failed, RunState::Failed], "one retry was allowed");
    });
}

// covers: 002-36
#[test]
fn a_fixed_list_of_delays_is_kept_to_the_second() {
    with_registered_executor(async |node, executor| {
        let job = node
            .job(|draft| {
                draft.retries = 3;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![0, 30] };
            })
            .await;
        node.fire(&job).await;
        node.round().await;
        for (attempt, delay) in [(1, 0), (2, 30_000), (3, 30_000)] {
            let failed = node.runs(&job).await.pop().unwrap();
            assert_eq!(failed.attempt, attempt);
            let now = node.clock.now();
            node.callback(&[(failed.id, 500, "no")]).await;
            let next = node.runs(&job).await.pop().unwrap();
            assert_eq!(next.due_at - now, delay);
            assert_eq!(alarms(node).await, 0, "only the last failure is told");
            node.advance(delay as u64 + 100).await;
        }
        let last = executor.runs().pop().unwrap().run_id();
        node.callback(&[(last, 500, "no")]).await;
        assert_eq!((node.runs(&job).await.len(), alarms(node).await), (4, 1));
        assert!(node.metrics().contains("carillon_alarms_total{kind=\"failed\"} 1"));
    });
}

async fn alarms(node: &Node) -> usize {
    let filter = AlarmFilter { limit: 100, ..AlarmFilter::default() };
    node.store.alarms().list(&filter).await.unwrap().items.len()
}

// covers: 004-20, I8
#[test]
fn a_late_result_settles_its_own_run_and_calls_the_retry_off() {
    with_registered_executor(async |node, executor| {
        executor.reply(Reply::Status(502));
        let job = node.job(|draft| draft.retries = 1).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        node.clock.advance(std::time::Duration::from_secs(11));
        carillon_engine::runtime::Service::step(&*node.services.coordinator).await;
        node.round().await;
        carillon_engine::runtime::Service::step(&*node.services.resolver).await;
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Unknown, RunState::Claimed]);
        node.callback(&[(run_id, 200, "late")]).await;
        let runs = node.runs(&job).await;
        assert_eq!((runs[0].state, runs[1].state), (RunState::Succeeded, RunState::Cancelled));
        assert_eq!(runs[1].reason.as_deref(), Some("late_result"));
        node.advance(10_000).await;
        assert_eq!(executor.runs().len(), 1, "002-37: the superseded retry is never sent");
    });
}

#[test]
fn a_broadcast_retries_the_part_that_failed_alone() {
    with_registered_executor(async |node, first| {
        let second = RecordingExecutor::start().await;
        node.register(&second).await;
        let job = node
            .job(|draft| {
                draft.retries = 1;
                draft.route = RouteStrategy::Broadcast;
            })
            .await;
        node.fire(&job).await;
        node.round().await;
        let runs = node.runs(&job).await;
        assert_eq!(runs.len(), 2);
        node.callback(&[(runs[0].id, 200, ""), (runs[1].id, 500, "")]).await;
        node.advance(7_000).await;
        let runs = node.runs(&job).await;
        assert_eq!(runs.iter().map(|run| (run.part, run.attempt)).collect::<Vec<_>>(), [(0, 1), (1, 1), (1, 2)]);
        assert_eq!(runs[2].address, runs[1].address, "the executor of the part's number");
        assert_eq!(first.runs().len() + second.runs().len(), 3);
    });
}

#[test]
fn a_broadcast_that_found_no_executor_is_split_by_its_next_attempt_and_bears_its_child() {
    on_node(async |node| {
        let child = node.job(|_| ()).await;
        let job = node
            .job(|draft| {
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![1] };
                draft.route = RouteStrategy::Broadcast;
                draft.children = vec![child.id];
            })
            .await;
        node.fire(&job).await;
        node.round().await;
        while node.runs(&job).await.len() < 2 {
            node.advance(5_000).await;
        }
        assert_eq!(node.runs(&job).await[0].reason.as_deref(), Some("no_executor"));
        let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        for executor in &executors {
            node.register(executor).await;
        }
        node.advance(2_000).await;
        let runs = node.runs(&job).await;
        let seen: Vec<_> = runs.iter().map(|run| (run.part, run.parts, run.attempt)).collect();
        assert_eq!(seen, [(0, 1, 1), (0, 2, 2), (1, 2, 2)]);
        assert_eq!(executors.each_ref().map(|executor| executor.runs().len()), [1, 1], "each has a part");
        node.callback(&[(runs[1].id, 200, "one")]).await;
        assert_eq!(node.runs(&child).await.len(), 0, "the other part is on its way");
        node.callback(&[(runs[2].id, 200, "two")]).await;
        assert_eq!(node.runs(&child).await.len(), 1);
    });
}
