//! Demands 4 to 8: the results that executors report, and what they are answered.

use std::time::{Duration, Instant};

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, RunState};
use carillon_store::{Actor, Job};
use carillon_testkit::wait_for;

use super::raw::{Message, post, report, token};
use crate::flow::executor_tokens::World;
use crate::flow::node::{Node, with_registered_executor};
use crate::services::{Kind, on};

use RunState::{Cancelled, Claimed, Failed, Killed, Lost, Running, Succeeded};

/// A run that its executor has accepted, of a job of its own.
async fn running(node: &Node) -> (Job, i64) {
    let job = node.job(|_| ()).await;
    let run = node.fire(&job).await;
    node.round().await;
    assert_eq!(node.states(&job).await, [Running]);
    (job, run)
}

fn result(run: i64, code: i32, text: &str) -> String {
    format!(r#"[{{"logId":{run},"logDateTim":1,"handleCode":{code},"handleMsg":"{text}"}}]"#)
}

#[test]
fn a_result_is_read_in_the_form_of_each_client() {
    with_registered_executor(async |node, _| {
        let long = "x".repeat(50_000);
        let long_form = format!(r#"[{{"logId":RUN,"logDateTim":1,"handleCode":500,"handleMsg":"{long}"}}]"#);
        for (client, form, state, text) in [
            ("Java", r#"[{"logId":RUN,"logDateTim":1,"handleCode":200,"handleMsg":"done"}]"#, Succeeded, "done"),
            (
                "the Java snapshot",
                r#"{"callbackList":[{"logId":RUN,"logDateTime":1,"handleCode":200,"handleMsg":"done"}]}"#,
                Succeeded,
                "done",
            ),
            (
                "pyxxl",
                r#"[{"logId":RUN,"logDateTim":1,"handleCode":200,"handleMsg":"done","executeResult":{"code":200,"msg":"done","content":null}}]"#,
                Succeeded,
                "done",
            ),
            (
                "Go",
                r#"[{"logId":RUN,"logDateTim":1,"executeResult":{"code":500,"msg":"no"},"handleCode":500,"handleMsg":"no"}]"#,
                Failed,
                "no",
            ),
            ("xxljob-sdk-rs", r#"[{"logId":RUN,"logDateTim":1,"handleCode":200,"handleMsg":null}]"#, Succeeded, ""),
            ("an empty text", r#"[{"logId":RUN,"logDateTim":1,"handleCode":200,"handleMsg":""}]"#, Succeeded, ""),
            ("no text", r#"[{"logId":RUN,"logDateTim":1,"handleCode":200}]"#, Succeeded, ""),
            ("a long text", &long_form, Failed, &long[..100]),
        ] {
            let (job, run) = running(node).await;
            let answer = report(node, &[&token(node)], &form.replace("RUN", &run.to_string())).await;
            assert!(answer.is_success(), "{client}: {}", answer.body);
            let run = &node.runs(&job).await[0];
            assert_eq!(run.state, state, "{client}");
            assert!(run.message().starts_with(text), "{client}: {}", run.message());
            assert!(!text.is_empty() || run.message().is_empty(), "{client}: {}", run.message());
        }
    });
}

#[test]
fn a_result_is_of_its_run_whatever_clock_its_executor_writes() {
    with_registered_executor(async |node, _| {
        // Whole seconds, seconds in place of milliseconds, the far future, before 1970, nothing.
        for instant in ["1760000001000", "1760000001", "9007199254740991", "-1", "0", "null"] {
            let (job, run) = running(node).await;
            let (_, other) = running(node).await;
            let body = format!(r#"[{{"logId":{run},"logDateTim":{instant},"handleCode":200,"handleMsg":"done"}}]"#);
            assert!(report(node, &[&token(node)], &body).await.is_success(), "{instant}");
            let ended = &node.runs(&job).await[0];
            assert_eq!((ended.state, ended.finished_at), (Succeeded, Some(node.clock.now())), "{instant}");
            assert_eq!(node.store.runs().get(other).await.unwrap().unwrap().state, Running, "{instant}");
        }
    });
}

#[test]
fn two_hundred_is_success_502_is_a_time_out_and_any_other_code_is_a_failure() {
    with_registered_executor(async |node, _| {
        for (code, state, reason) in [
            (200, Succeeded, None),
            (502, Failed, Some("timeout")),
            (500, Failed, Some("result")),
            (501, Failed, Some("result")),
            (201, Failed, Some("result")),
            (0, Failed, Some("result")),
            (-1, Failed, Some("result")),
        ] {
            let (job, run) = running(node).await;
            assert!(report(node, &[&token(node)], &result(run, code, "text")).await.is_success(), "{code}");
            let run = &node.runs(&job).await[0];
            assert_eq!((run.state, run.reason.as_deref(), run.message().as_str()), (state, reason, "text"), "{code}");
        }
    });
}

#[test]
fn each_result_that_is_understood_is_answered_with_success_and_the_first_one_counts() {
    with_registered_executor(async |node, executor| {
        let said = async |body: &str| {
            let answer = report(node, &[&token(node)], body).await;
            assert!(answer.is_success(), "{body}: {}", answer.body);
        };
        let (job, run) = running(node).await;
        // pyxxl and pyxxljob would report a success that is refused as a failure.
        for (code, text) in [(200, "first"), (200, "first"), (500, "Connection error after retry times 3")] {
            said(&result(run, code, text)).await;
            let run = &node.runs(&job).await[0];
            assert_eq!((run.state, run.message().as_str()), (Succeeded, "first"));
        }
        said(&result(987_654_321, 200, "of an unknown run")).await;
        said("[]").await;

        let killed = running(node).await;
        node.engine.runs().kill(killed.1, &Actor::engine()).await.unwrap();
        said(&result(killed.1, 500, "killed")).await;
        said(&result(killed.1, 200, "done all the same")).await;
        assert_eq!(node.states(&killed.0).await, [Killed]);

        // A late one corrects what was assumed alone.
        let lost = running(node).await;
        executor.die().await;
        for _ in 0..60 {
            node.advance(3_000).await;
            node.services.monitor.step().await;
            node.drain().await;
        }
        assert_eq!(node.states(&lost.0).await, [Lost]);
        said(&result(lost.1, 200, "late")).await;
        assert_eq!(node.states(&lost.0).await, [Succeeded]);
    });
}

#[test]
fn a_result_for_a_run_that_was_not_sent_to_its_executor_is_answered_with_success_and_changes_nothing() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let executor = carillon_testkit::RecordingExecutor::start().await;
        node.register(&executor).await;
        let of_payroll = format!("XXL-JOB-ACCESS-TOKEN: {}", world.payroll_token);
        let (job, run) = running(node).await;
        let answer = report(node, &[&of_payroll], &result(run, 200, "of another app")).await;
        assert!(answer.is_success(), "{}", answer.body);
        assert_eq!(node.states(&job).await, [Running]);

        let unsent = node.job(|_| ()).await;
        let run = node.fire(&unsent).await;
        for state in [Claimed, Cancelled] {
            assert!(report(node, &[&token(node)], &result(run, 200, "never sent")).await.is_success());
            assert_eq!(node.states(&unsent).await, [state]);
            node.engine.runs().kill(run, &Actor::engine()).await.unwrap();
        }
    });
}

/// As an executor meets it while nothing is written: the answer, and how long it took.
async fn report_unwritten(node: &Node, run: i64) -> (Option<Message>, Duration) {
    let begun = Instant::now();
    let body = result(run, 200, "done");
    let answer = post(node, "/xxl-job-admin/api/callback", &[&token(node)], &body).await;
    (answer, begun.elapsed())
}

#[test]
fn a_result_is_never_answered_before_it_is_stored_and_its_connection_is_cut_before_java_gives_up() {
    with_registered_executor(async |node, _| {
        let (mut quickest, mut jobs) = (Duration::MAX, vec![]);
        // Java gives up after 3 s. A machine under load may be slow, so one of three is enough.
        while quickest >= Duration::from_secs(3) && jobs.len() < 3 {
            let (job, run) = running(node).await;
            let (answer, took) = report_unwritten(node, run).await;
            assert!(answer.is_none(), "no answer, not even a refusal");
            assert!(took >= Duration::from_millis(2_400), "it was held: {took:?}");
            assert_eq!(node.states(&job).await, [Running], "it is not stored");
            quickest = quickest.min(took);
            jobs.push(job);
            // Written now, so that the next run is not behind it.
            wait_for("it is stored after all", async || {
                node.services.completer.step().await;
                node.states(&jobs[jobs.len() - 1]).await == [Succeeded]
            })
            .await;
        }
        assert!(quickest < Duration::from_secs(3), "{quickest:?}");
    });
}
