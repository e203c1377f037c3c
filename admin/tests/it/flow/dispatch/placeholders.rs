//! Placeholders in parameters: what executors get.

use carillon_engine::manage::{BackfillRange, BulkRequest, RunAction, Selection};
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Cause, RetryDelay, ScheduleDraft};
use carillon_testkit::RecordingExecutor;

use crate::conformance::fixture::actor;
use crate::flow::node::{START, with_registered_executor};

/// What each request to the executor had as parameters.
fn params(executor: &RecordingExecutor) -> Vec<String> {
    executor.runs().iter().map(|run| run.json()["executorParams"].as_str().unwrap().to_owned()).collect()
}

// covers: B3
#[test]
fn a_backfill_of_a_stock_executor_knows_its_instants() {
    with_registered_executor(async |node, executor| {
        let job = node
            .job(|draft| {
                draft.schedule = ScheduleDraft::cron("0 * * * * ?", "Asia/Shanghai");
                draft.enabled = false;
                draft.params = "{{scheduled_at|%F %H:%M}} {{part}}/{{parts}} {{ no.such }}".into();
            })
            .await;
        // START is 20 s past 16:54 in Shanghai.
        let range = BackfillRange { job_id: job.id, from_at: START - 140_000, to_at: START - 20_000 };
        node.engine.backfills().create(range, 100, &actor()).await.unwrap();
        for _ in 0..3 {
            node.services.backfill_releaser.step().await;
            node.round().await;
        }
        let mut given = params(executor);
        given.sort();
        let day = chrono::DateTime::from_timestamp_millis(START + 8 * 3_600_000).unwrap();
        let at = |minutes| (day - chrono::TimeDelta::minutes(minutes)).format("%F %H:%M 0/1 {{ no.such }}").to_string();
        assert_eq!(given, [at(2), at(1), at(0)][..given.len()]);
        assert!(given.len() >= 2, "{given:?}");
    });
}

// covers: B3
#[test]
fn a_retry_has_its_attempt_and_a_rerun_the_instant_of_its_original() {
    with_registered_executor(async |node, executor| {
        let job = node
            .job(|draft| {
                draft.params = "{{scheduled_at|ms}} {{run_id}} {{attempt}}".into();
                (draft.retries, draft.retry_delay) = (1, RetryDelay::Fixed { seconds: vec![0] });
            })
            .await;
        let first = node.fire(&job).await;
        node.round().await;
        node.callback(&[(first, 500, "no")]).await;
        node.advance(1_000).await;
        let second = node.runs(&job).await[1].clone();
        node.callback(&[(second.id, 500, "no")]).await;
        let at = second.scheduled_at;
        node.advance(60_000).await;
        let action = RunAction::Rerun { cause: Cause::Manual, repeated: false };
        let selection = Selection::Ids(vec![second.id]);
        let request = BulkRequest { selection: &selection, action, expected: None, idempotency_key: None };
        assert_eq!(node.engine.do_with_all(request, &actor()).await.unwrap().done, 1);
        node.round().await;
        let rerun = node.runs(&job).await[2].id;
        let expected = [format!("{at} {first} 1"), format!("{at} {} 2", second.id), format!("{at} {rerun} 1")];
        assert_eq!(params(executor), expected);
    });
}

#[test]
fn the_result_of_a_parent_reaches_its_child_as_it_is() {
    with_registered_executor(async |node, executor| {
        let child = node.job(|_| ()).await;
        let parent = node.job(|draft| draft.children = vec![child.id]).await;
        let run_id = node.fire(&parent).await;
        node.round().await;
        node.callback(&[(run_id, 200, "{{run_id}} rows")]).await;
        node.round().await;
        assert_eq!(params(executor).pop().unwrap(), "{{run_id}} rows");
    });
}
