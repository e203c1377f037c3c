//! Runs that a live stock executor has had for long: it is asked whether it still works on them.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{BlockStrategy, Clock as _, RetryDelay, RunState};
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::json;

use crate::flow::node::{Node, with_executor};
use crate::flow::recover::lost::{advance_seconds, log, refusal};

pub fn busy() -> Reply {
    refusal("job thread is running or has trigger queue.")
}

/// Time passes, and the executors keep their heartbeats up.
pub async fn live_for(node: &Node, executors: &[&RecordingExecutor], seconds: u64) {
    for _ in 0..seconds / 15 {
        for executor in executors {
            node.register(executor).await;
        }
        advance_seconds(node, 15).await;
    }
}

/// A run that the executor has accepted.
pub async fn run_of(node: &Node, executor: &RecordingExecutor, job: &Job) -> i64 {
    node.register(executor).await;
    let run_id = node.fire(job).await;
    node.round().await;
    assert_eq!(state(node, run_id).await, RunState::Running);
    run_id
}

pub async fn state(node: &Node, run_id: i64) -> RunState {
    node.store.runs().get(run_id).await.unwrap().unwrap().state
}

/// What Java writes into the log of a run that has ended.
fn java(end: &str) -> Reply {
    let start = "2026-11-22 04:00:00 [com.xxl.job.core.thread.JobThread#run]-[133]-[xxl-job, JobThread-5-1] \
                 <br>----------- xxl-job job execute start -----------<br>----------- Param:null\n";
    let end = format!(
        "2026-11-22 04:00:09 [com.xxl.job.core.thread.JobThread#run]-[179]-[xxl-job, JobThread-5-1] {end}\n\
         2026-11-22 04:00:09 [com.xxl.job.core.thread.TriggerCallbackThread#callbackLog]-[197]-[xxl-job, executor TriggerCallbackThread] \
         <br>----------- xxl-job job callback error, errorMsg:Connection refused\n"
    );
    log(&format!("{start}{end}"), false)
}

// covers: I12
#[test]
fn a_run_whose_result_was_lost_becomes_unknown_and_its_retry_follows() {
    with_executor(async |node, executor| {
        let job = node
            .job(|draft| {
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![600] };
            })
            .await;
        let run_id = run_of(node, executor, &job).await;
        live_for(node, &[executor], 105).await;
        assert_eq!(node.states(&job).await, [RunState::Running], "idle once: its result may be under way");
        live_for(node, &[executor], 45).await;
        assert_eq!(node.states(&job).await, [RunState::Unknown, RunState::Claimed]);
        let run = &node.runs(&job).await[0];
        assert_eq!(run.reason.as_deref(), Some("not_reported"));
        assert!(run.message().contains("has no run of this job"), "{}", run.message());
        // The result comes after all: evidence beats assumption.
        node.callback(&[(run_id, 200, "late")]).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded, RunState::Cancelled]);
    });
}

// covers: I12
#[test]
fn a_last_attempt_whose_result_was_lost_raises_an_alarm() {
    with_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        run_of(node, executor, &job).await;
        live_for(node, &[executor], 150).await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
        let metrics = node.metrics();
        assert!(metrics.contains("carillon_alarms_total{kind=\"unknown\"} 1"), "{metrics}");
    });
}

#[test]
fn a_run_that_goes_on_is_checked_at_growing_intervals_and_stays() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        let job = node.job(|_| ()).await;
        run_of(node, executor, &job).await;
        live_for(node, &[executor], 16 * 60).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        let asked = executor.received("/idleBeat").len();
        assert_eq!(asked, 4, "after 1, 3, 7 and 15 minutes");
        assert!(executor.received("/log").is_empty(), "its log may be large, and nothing speaks against it");
    });
}

#[test]
fn a_result_that_was_under_way_at_the_first_look_is_waited_for() {
    with_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let run_id = run_of(node, executor, &job).await;
        live_for(node, &[executor], 90).await;
        assert_eq!(executor.received("/idleBeat").len(), 1);
        node.callback(&[(run_id, 200, "done")]).await;
        live_for(node, &[executor], 90).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded]);
        assert_eq!(executor.received("/idleBeat").len(), 1, "what has ended is not asked about");
    });
}

#[test]
fn an_executor_that_is_busy_again_at_the_second_look_keeps_its_run() {
    with_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        run_of(node, executor, &job).await;
        live_for(node, &[executor], 75).await;
        // As pyxxl between two runs of its queue.
        executor.reply_to_probes(busy());
        live_for(node, &[executor], 120).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
    });
}

// covers: I12
#[test]
fn the_end_of_a_log_says_what_became_of_a_run() {
    with_executor(async |node, executor| {
        let finished = |code: i32, message: &str| {
            java(&format!(
                "<br>----------- xxl-job job execute end(finish) -----------<br>----------- Result: handleCode={code}, handleMsg = {message}"
            ))
        };
        let error = java(
            "<br>----------- JobThread Exception:java.lang.Error: no\n\tat Job.run(Job.java:1)\n<br>----------- xxl-job job execute end(error) -----------",
        );
        for (reply, expected, code, text) in [
            (finished(200, "null"), RunState::Succeeded, 200, "its log"),
            (finished(500, "no disk"), RunState::Failed, 500, "no disk"),
            (finished(502, "job execute timeout "), RunState::Failed, 502, "timeout"),
            (error, RunState::Failed, 500, "its log"),
        ] {
            executor.reply_to("/log", reply);
            let job = node.job(|_| ()).await;
            run_of(node, executor, &job).await;
            live_for(node, &[executor], 150).await;
            let run = &node.runs(&job).await[0];
            assert_eq!((run.state, run.result_code), (expected, Some(code)));
            assert!(run.message().contains(text), "{}", run.message());
        }
    });
}

#[test]
fn the_log_of_a_run_tells_its_end_while_a_later_run_of_the_job_keeps_its_executor_busy() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        let job = node.job(|_| ()).await;
        let first = run_of(node, executor, &job).await;
        let second = run_of(node, executor, &job).await;
        executor.reply_to_log_of(
            first,
            java("<br>----------- xxl-job job execute end(finish) -----------<br>----------- Result: handleCode=200, handleMsg = null"),
        );
        executor.reply_to_log_of(second, log("begun\n", false));
        live_for(node, &[executor], 10 * 60).await;
        assert_eq!((state(node, first).await, state(node, second).await), (RunState::Succeeded, RunState::Running));
    });
}

// covers: I12
#[test]
fn a_run_that_was_replaced_under_cover_early_becomes_unknown() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        // What the Go executor answers for any run.
        executor.reply_to("/log", log("no log handler", true));
        let job = node.job(|draft| draft.block = BlockStrategy::CoverEarly).await;
        let first = run_of(node, executor, &job).await;
        node.advance(1_000).await;
        let second = run_of(node, executor, &job).await;
        live_for(node, &[executor], 10 * 60).await;
        let run = node.store.runs().get(first).await.unwrap().unwrap();
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Unknown, Some("replaced")));
        let by = format!("replaced by run {second}");
        assert!(run.message().contains(&by), "{}", run.message());
        assert_eq!(state(node, second).await, RunState::Running);
        node.callback(&[(first, 500, "replaced"), (second, 200, "done")]).await;
        assert_eq!((state(node, first).await, state(node, second).await), (RunState::Failed, RunState::Succeeded));
    });
}

#[test]
fn runs_that_wait_in_the_queue_of_their_executor_are_never_ended() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", log("begun\n", true));
        let job = node.job(|_| ()).await;
        let mut runs = vec![];
        for _ in 0..3 {
            node.advance(1_000).await;
            runs.push(run_of(node, executor, &job).await);
        }
        live_for(node, &[executor], 20 * 60).await;
        for run_id in runs {
            assert_eq!(state(node, run_id).await, RunState::Running);
        }
    });
}

#[test]
fn a_run_whose_log_grows_or_cannot_be_read_is_not_taken_for_replaced() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        let job = node.job(|draft| draft.block = BlockStrategy::CoverEarly).await;
        let first = run_of(node, executor, &job).await;
        node.advance(1_000).await;
        run_of(node, executor, &job).await;
        // xxljob-sdk-rs runs both side by side, and keeps no log.
        executor.reply_to("/log", Reply::Body(json!({"code": 200, "content": null}).to_string()));
        live_for(node, &[executor], 10 * 60).await;
        assert_eq!(state(node, first).await, RunState::Running);
        for line in 0..40 {
            executor.reply_to("/log", log(&"still at it\n".repeat(line + 1), false));
            live_for(node, &[executor], 30).await;
        }
        assert_eq!(state(node, first).await, RunState::Running);
    });
}

#[test]
fn a_run_that_was_sent_before_its_job_had_cover_early_is_replaced_by_later_ones_only() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(busy());
        executor.reply_to("/log", log("no log handler", true));
        let job = node.job(|_| ()).await;
        let first = run_of(node, executor, &job).await;
        node.advance(1_000).await;
        let second = run_of(node, executor, &job).await;
        node.advance(5_000).await;
        let mut draft = carillon_scheduler::JobDraft::new("orders", "job", "handle");
        draft.block = BlockStrategy::CoverEarly;
        node.edit(&job, draft).await;
        live_for(node, &[executor], 10 * 60).await;
        assert_eq!(
            (state(node, first).await, state(node, second).await),
            (RunState::Running, RunState::Running),
            "the second waits in the queue"
        );
    });
}

#[test]
fn what_an_executor_does_not_answer_clearly_ends_nothing_and_is_told_once() {
    with_executor(async |node, executor| {
        for reply in [Reply::Status(502), Reply::Status(404), refusal("XXL-JOB idleBeat callback is not configured")] {
            executor.reply_to_probes(reply);
            let job = node.job(|_| ()).await;
            run_of(node, executor, &job).await;
            live_for(node, &[executor], 8 * 60).await;
            assert_eq!(node.states(&job).await, [RunState::Running]);
        }
        let metrics = node.metrics();
        assert!(metrics.contains("carillon_alarms_total{kind=\"stuck\"} 1"), "{metrics}");
    });
}

// covers: V5
#[test]
fn an_address_that_is_not_registered_any_more_is_never_asked() {
    with_executor(async |node, executor| {
        let job = node.job(|draft| draft.timeout_seconds = 1).await;
        run_of(node, executor, &job).await;
        live_for(node, &[executor], 45).await;
        // Another tenant may listen there from now on.
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
        node.post("api/registryRemove", &body).await;
        advance_seconds(node, 150).await;
        let asked: Vec<_> = ["/idleBeat", "/log", "/kill"].map(|path| executor.received(path).len()).to_vec();
        assert_eq!(asked, [0, 0, 0]);
        assert_eq!(node.states(&job).await, [RunState::Lost]);
    });
}

#[test]
fn a_node_that_takes_over_goes_on_checking() {
    with_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        run_of(node, executor, &job).await;
        live_for(node, &[executor], 75).await;
        assert_eq!(executor.received("/idleBeat").len(), 1);
        let heir = Node::restarted(node, node.config.clone(), node.clock.now() + 20_000).await;
        live_for(&heir, &[executor], 60).await;
        assert_eq!(heir.states(&job).await, [RunState::Running], "it has its own two looks");
        live_for(&heir, &[executor], 150).await;
        assert_eq!(heir.states(&job).await, [RunState::Unknown]);
    });
}

#[test]
fn an_executor_that_hangs_does_not_delay_the_checks_of_another_one() {
    with_executor(async |node, executor| {
        let hanging = RecordingExecutor::start().await;
        hanging.reply_to_probes(Reply::Never);
        let (mut theirs, ours) = (vec![], node.job(|_| ()).await);
        for _ in 0..5 {
            let job = node.job(|_| ()).await;
            theirs.push(run_of(node, &hanging, &job).await);
        }
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": hanging.address});
        node.post("api/registryRemove", &body).await;
        node.services.refresher.step().await;
        let run_id = run_of(node, executor, &ours).await;
        live_for(node, &[executor, &hanging], 150).await;
        assert_eq!(state(node, run_id).await, RunState::Unknown);
        for run_id in theirs {
            assert_eq!(state(node, run_id).await, RunState::Running);
        }
    });
}

#[test]
fn many_runs_of_one_address_are_checked_a_few_at_a_time() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let jobs = node.create_jobs(70, |_| ()).await;
        for job in &jobs {
            node.fire(job).await;
        }
        node.round().await;
        node.register(executor).await;
        advance_seconds(node, 60).await;
        node.register(executor).await;
        node.services.monitor.step().await;
        node.drain().await;
        let first = executor.received("/idleBeat").len();
        assert!((1..=60).contains(&first), "{first}");
        live_for(node, &[executor], 180).await;
        for job in &jobs {
            assert_eq!(node.states(job).await, [RunState::Unknown]);
        }
    });
}
