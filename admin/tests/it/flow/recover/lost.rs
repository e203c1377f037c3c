//! Runs whose executor is gone.

use std::time::Duration;

use carillon_admin::config::LostRule;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{RetryDelay, RunState};
use carillon_testkit::{Call, RecordingExecutor, Reply, wait_for};
use serde_json::json;

use crate::flow::node::{Node, with_executor};
use crate::services::{Kind, on};

/// Time goes on in small steps: a long one would look like a pause of this node. Every service has its turns.
pub async fn advance_seconds(node: &Node, seconds: u64) {
    for _ in 0..seconds / 3 {
        node.advance(3_000).await;
        node.services.monitor.step().await;
        node.drain().await;
    }
}

async fn pass_until(node: &Node, run_id: i64, state: RunState, seconds: u64) -> u64 {
    for passed in (0..=seconds).step_by(3) {
        let run = node.store.runs().get(run_id).await.unwrap().unwrap();
        if run.state == state {
            return passed;
        }
        advance_seconds(node, 3).await;
    }
    panic!("run {run_id} is not {state} within {seconds} s");
}

pub fn log(content: &str, is_end: bool) -> Reply {
    let page = json!({"fromLineNum": 1, "toLineNum": 2, "logContent": content, "isEnd": is_end});
    Reply::Body(json!({"code": 200, "content": page, "data": page}).to_string())
}

pub fn refusal(message: &str) -> Reply {
    Reply::Body(json!({"code": 500, "msg": message}).to_string())
}

// covers: H12
#[test]
fn a_run_is_lost_with_its_executors_lease_and_a_late_result_tells_the_truth() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let job = node
            .job(|draft| {
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![600] };
            })
            .await;
        let run_id = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        executor.die().await;
        let passed = pass_until(node, run_id, RunState::Lost, 120).await;
        assert!((60..=75).contains(&passed), "a lease and 30 s: {passed}");
        assert_eq!(node.states(&job).await, [RunState::Lost, RunState::Claimed]);
        let lost = &node.runs(&job).await[0];
        assert_eq!(lost.reason.as_deref(), Some("lost"));
        assert!(lost.message().contains("is gone"), "{}", lost.message());
        // It had run all the same, and its result was kept on disk.
        node.callback(&[(run_id, 200, "late")]).await;
        let runs = node.runs(&job).await;
        assert_eq!(
            (runs[0].state, runs[1].state, runs[1].reason.as_deref()),
            (RunState::Succeeded, RunState::Cancelled, Some("late_result"))
        );
    });
}

// covers: 004-18
#[test]
fn a_stock_executor_is_dead_after_three_heartbeats_and_its_runs_are_lost_later() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        let passed = pass_until(node, run_id, RunState::Lost, 200).await;
        assert!((120..=180).contains(&passed), "90 s, and 30 to 90 s more: {passed}");
        assert!(node.metrics().contains("carillon_alarms_total{kind=\"lost\"} 1"));
        assert_eq!(executor.runs().len(), 1, "004-19: nobody runs it again");
        node.callback(&[(run_id, 500, "it failed there")]).await;
        assert_eq!(node.states(&job).await, [RunState::Failed], "004-20");
    });
}

// covers: I6
#[test]
fn a_new_process_at_the_same_address_loses_the_runs_of_the_old_one_at_once() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        executor.reply_to("/log", refusal("this executor has no log of run 1"));
        node.register_own(executor, "boot-2").await;
        node.drain().await;
        let run = &node.runs(&job).await[0];
        assert_eq!(run.state, RunState::Lost);
        assert!(run.message().contains("restarted"), "{}", run.message());
    });
}

#[test]
fn a_run_that_the_new_process_has_taken_is_not_lost_with_the_old_one() {
    with_executor(async |node, executor| {
        // Chosen while the old process was registered, delivered to the new one.
        node.register_own(executor, "boot-1").await;
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        executor.reply_to("/log", log("begun\n", false));
        node.register_own(executor, "boot-2").await;
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        executor.reply_to("/log", refusal("nothing"));
        node.register_own(executor, "boot-2").await;
        node.services.monitor.step().await;
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Running], "it belongs to the new process now");
    });
}

#[test]
fn an_executor_that_has_signed_off_may_finish_its_runs_first() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
        node.post("api/registryRemove", &body).await;
        advance_seconds(node, 45).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        let passed = pass_until(node, run_id, RunState::Lost, 60).await;
        assert!(passed <= 45, "{passed}");
    });
}

// covers: 002-34
#[test]
fn no_run_is_lost_while_the_admin_could_not_hear() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        // This process is paused for ten minutes; it comes back, and the audit is the first to wake.
        node.clock.advance(Duration::from_secs(600));
        node.renew_leases().await;
        node.services.monitor.step().await;
        node.drain().await;
        advance_seconds(node, 27).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        // A full lease has passed without a heartbeat, and 30 s more.
        let passed = pass_until(node, run_id, RunState::Lost, 90).await;
        assert!((27..=60).contains(&passed), "{passed}");
    });
}

#[test]
fn xxl_jobs_rule_is_ten_minutes_and_unregistered() {
    on(Kind::Sqlite, async |_| {
        let database = crate::services::TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.engine.lost_rule = LostRule::Xxl;
        let clock = std::sync::Arc::new(carillon_scheduler::ManualClock::new(crate::flow::node::START));
        let (node, executor) = (Node::on(config, clock).await, RecordingExecutor::start().await);
        node.register_own(&executor, "boot-1").await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        let passed = pass_until(&node, run_id, RunState::Lost, 700).await;
        assert!((597..=615).contains(&passed), "{passed}");
    });
}

// covers: I12
#[test]
fn an_open_run_in_a_wrong_shard_is_put_back_and_told() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.sql(&format!("UPDATE run SET shard = 77, epoch = 9 WHERE id = {run_id}")).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Claimed], "nobody finds it");
        node.services.monitor.step().await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        assert!(node.metrics().contains("carillon_alarms_total{kind=\"stuck\"} 1"));
        wait_for("the run was sent", || async { executor.runs().len() == 1 }).await;
    });
}

// covers: H13
#[test]
fn a_result_that_is_reported_again_and_again_changes_nothing() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.job(|draft| draft.retries = 3).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        for _ in 0..3 {
            let answer = node.callback(&[(run_id, 500, "once")]).await;
            assert_eq!(answer["code"], 200);
        }
        node.callback(&[(run_id, 200, "and another word")]).await;
        assert_eq!(node.states(&job).await, [RunState::Failed, RunState::Claimed]);
    });
}

// covers: 004-21, 6.13
#[test]
fn what_a_dead_executor_had_runs_again_on_another_one_after_a_while() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let job = node
            .job(|draft| {
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![5] };
            })
            .await;
        let run_id = node.fire(&job).await;
        node.round().await;
        executor.die().await;
        let other = RecordingExecutor::start().await;
        for _ in 0..6 {
            node.register_own(&other, "other").await;
            advance_seconds(node, 15).await;
        }
        let runs = node.runs(&job).await;
        assert_eq!((runs[0].state, runs[1].state), (RunState::Lost, RunState::Running));
        assert_eq!(other.runs()[0].run_id(), runs[1].id);
        // Both come to an end in the row that is their own.
        node.callback(&[(run_id, 200, "the first, late")]).await;
        node.callback(&[(runs[1].id, 500, "the second")]).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded, RunState::Failed]);
    });
}

// covers: 002-37
#[test]
fn a_retry_is_called_off_when_its_job_is_disabled() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.every(3_600, |draft| draft.retries = 3).await;
        node.advance(3_600_000).await;
        node.register(executor).await;
        node.round().await;
        let run_id = executor.runs()[0].run_id();
        node.callback(&[(run_id, 500, "no")]).await;
        assert_eq!(node.states(&job).await, [RunState::Failed, RunState::Claimed]);
        let by = crate::conformance::fixture::actor();
        let now = carillon_scheduler::Clock::now(&*node.clock);
        node.store.jobs().set_enabled(job.id, false, now, &by).await.unwrap();
        let runs = node.runs(&job).await;
        assert_eq!((runs[1].state, runs[1].reason.as_deref()), (RunState::Cancelled, Some("disabled")));
        node.register(executor).await;
        advance_seconds(node, 15).await;
        assert_eq!(executor.runs().len(), 1, "it is never sent");
    });
}

// covers: 001-39
#[test]
fn a_row_that_nobody_has_in_memory_is_driven_on_within_ten_seconds() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.job(|_| ()).await;
        let first = node.fire(&job).await;
        node.round().await;
        // As if its commit had gone through and the answer was lost: the holder's epoch, and not in its ring.
        let now = carillon_scheduler::Clock::now(&*node.clock);
        node.sql(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends) \
             SELECT 777777, job_id, app_id, shard, cause, 777777, 0, 1, 1, {now}, {now}, 0, epoch, owner, 0 FROM run WHERE id = {first}"
        ))
        .await;
        node.round().await;
        node.register(executor).await;
        advance_seconds(node, 12).await;
        let sent: Vec<i64> = executor.runs().iter().map(Call::run_id).collect();
        assert_eq!(sent, [first, 777_777]);
    });
}
