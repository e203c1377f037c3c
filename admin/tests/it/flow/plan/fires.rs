//! From a schedule to a request, and from a callback to a result.

use carillon_scheduler::{Cause, Clock as _, RunState, ScheduleDraft};
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use serde_json::json;

use crate::flow::node::{START, on_node};

// covers: I3
#[test]
fn an_instant_is_recorded_sent_at_its_second_and_settled() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(10, |draft| draft.params = "x=1".into()).await;
        node.round().await;
        assert!(node.runs(&job).await.is_empty(), "its first instant is not near yet");
        node.advance(8_000).await;
        assert_eq!(node.states(&job).await, [RunState::Claimed], "recorded before it is due");
        assert!(executor.runs().is_empty(), "nothing is sent before its instant");
        node.advance(2_000).await;
        let sent = executor.runs();
        assert_eq!(sent.len(), 1);
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.scheduled_at, run.cause), (RunState::Running, START + 10_000, Cause::Schedule));
        assert_eq!(run.address.as_deref(), Some(executor.address.as_str()));
        let answer = node.callback(&[(run.id, 200, "done")]).await;
        assert_eq!(answer, json!({"code": 200, "msg": null, "content": null, "data": null}));
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.result_code, run.message().as_str()), (RunState::Succeeded, Some(200), "done"));
    });
}

// covers: 001-1
#[test]
fn scan_trigger_and_execution_have_metrics_of_their_own() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(10, |_| ()).await;
        let figures = || {
            let metrics = node.metrics();
            let value = |name: &str| -> usize {
                let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
                line.map_or(0, |value| value.parse().unwrap())
            };
            let sent = value("carillon_sends_total{outcome=\"accepted\"}");
            let ended = value("carillon_runs_settled_total{state=\"succeeded\"}");
            (value("carillon_scan_duration_seconds_count") > 0, value("carillon_runs_claimed_total"), sent, ended)
        };
        assert_eq!(figures(), (false, 0, 0, 0));
        node.advance(8_000).await;
        assert_eq!(figures(), (true, 1, 0, 0), "scanned");
        node.advance(2_000).await;
        assert_eq!(figures(), (true, 1, 1, 0), "triggered");
        let run_id = node.runs(&job).await[0].id;
        node.callback(&[(run_id, 200, "done")]).await;
        assert_eq!(figures(), (true, 1, 1, 1), "executed");
    });
}

// covers: 000-3, 002-4
#[test]
fn a_period_of_1_s_fires_600_times_in_600_s() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = node.every(1, |_| ()).await;
        for second in 0..600 {
            if second % 60 == 0 {
                node.register(&executor).await;
            }
            node.advance(1_000).await;
        }
        let instants: Vec<_> = executor.runs().iter().map(|run| run.json()["logDateTime"].as_i64().unwrap()).collect();
        assert_eq!(instants, (1..=600).map(|second| START + second * 1_000).collect::<Vec<_>>());
        let recorded = node.runs(&job).await.iter().filter(|run| run.sent_at == Some(run.scheduled_at)).count();
        assert_eq!(recorded, 600, "each in its own second");
    });
}

// covers: 003-16, 6.2
#[test]
fn the_request_has_twelve_members_and_keeps_the_scheduled_instant() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |draft| draft.params = "a".into()).await;
        node.round().await;
        // 300 ms late: the instant stays what it was.
        node.advance(1_300).await;
        let sent = &executor.runs()[0];
        let body = sent.json();
        let mut members: Vec<&String> = body.as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(
            members,
            [
                "broadcastIndex",
                "broadcastTotal",
                "executorBlockStrategy",
                "executorHandler",
                "executorParams",
                "executorTimeout",
                "glueSource",
                "glueType",
                "glueUpdatetime",
                "jobId",
                "logDateTime",
                "logId",
            ]
        );
        assert_eq!(sent.json()["logDateTime"], START + 1_000);
        assert_eq!((&sent.json()["broadcastIndex"], &sent.json()["broadcastTotal"]), (&json!(0), &json!(1)));
        assert_eq!(sent.json()["executorBlockStrategy"], "SERIAL_EXECUTION");
        let key = format!("{}:schedule:{}:0", job.id, START + 1_000);
        assert_eq!(sent.header("Carillon-Fire-Key"), Some(key.as_str()));
        assert_eq!(sent.header("Carillon-Attempt"), Some("1"));
        let run = node.runs(&job).await.remove(0);
        let run = node.store.runs().get(run.id).await.unwrap().unwrap();
        assert_eq!(sent.header("traceparent"), Some(run.traceparent(&node.engine.cx.cluster).to_string().as_str()));
        assert_eq!(sent.header("Carillon-Scheduled-At"), Some((START + 1_000).to_string().as_str()));
        assert_eq!(sent.header("XXL-JOB-ACCESS-TOKEN"), Some(node.config.access_token.as_str()));
        let run = &node.runs(&job).await[0];
        assert_eq!((run.scheduled_at, run.sent_at), (START + 1_000, Some(START + 1_300)), "6.2: both are kept");
    });
}

// covers: 001-36
#[test]
fn when_its_executor_received_it_is_on_the_run() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        node.round().await;
        node.advance(1_300).await;
        let run_id = executor.runs()[0].run_id();
        assert_eq!(node.runs(&job).await[0].received_at, None, "it has not said so");
        let boot_id = node.boot_id_of(run_id).await;
        let headers = boot_id.as_ref().map(|boot_id| [("Carillon-Boot-Id", boot_id.as_str())]);
        let result = json!({"logId": run_id, "logDateTim": 1, "handleCode": 200, "receivedAt": START + 1_317});
        let body = json!([result]);
        let told = node.post_with("api/callback", headers.as_ref().map_or(&[], |it| &it[..]), &body);
        assert_eq!(node.while_completing(told).await["code"], 200);
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sent_at), (RunState::Succeeded, Some(START + 1_300)));
        assert_eq!(run.received_at, Some(START + 1_317));
    });
}

// covers: 000-2
#[test]
fn a_fire_by_hand_needs_no_schedule_and_goes_at_once() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|draft| draft.enabled = false).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        assert_eq!(executor.runs()[0].run_id(), run_id);
        let key = format!("{}:manual:{run_id}:0", job.id);
        assert_eq!(executor.runs()[0].header("Carillon-Fire-Key"), Some(key.as_str()));
    });
}

// covers: 001-24, I4, I8
#[test]
fn a_callback_three_times_is_one_result() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        node.round().await;
        node.advance(1_000).await;
        let run_id = node.runs(&job).await[0].id;
        for (code, text) in [(200, "first"), (500, "second"), (200, "third")] {
            assert_eq!(node.callback(&[(run_id, code, text)]).await["code"], 200);
        }
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.message().as_str()), (RunState::Succeeded, "first"));
        assert_eq!(
            node.callback(&[(987_654_321, 200, "of nobody")]).await["code"],
            200,
            "an unknown run changes nothing"
        );
    });
}

#[test]
fn a_callback_may_overtake_the_answer_to_its_request() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        executor.reply(Reply::Never);
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        node.round().await;
        node.clock.advance(std::time::Duration::from_secs(1));
        node.scan().await;
        carillon_engine::runtime::Service::step(&*node.services.dispatcher).await;
        wait_for("the request is there", || async { !executor.runs().is_empty() }).await;
        let run_id = executor.runs()[0].run_id();
        assert_eq!(node.states(&job).await[0], RunState::Sending);
        node.callback(&[(run_id, 200, "quick")]).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sent_at), (RunState::Succeeded, Some(node.clock.now())));
    });
}

// covers: 000-2
#[test]
fn a_job_without_a_schedule_never_fires_by_itself() {
    on_node(async |node| {
        let job = node.job(|draft| draft.schedule = ScheduleDraft::none()).await;
        node.round().await;
        node.advance(100_000).await;
        assert!(node.runs(&job).await.is_empty());
    });
}

// covers: 003-22
#[test]
fn cron_fires_in_the_zone_of_its_job() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        // 2025-10-09 08:53:20 UTC; 11:00 in Cairo (+03:00 then) is 08:00 UTC, the next day.
        let job = node.job(|draft| draft.schedule = ScheduleDraft::cron("0 0 11 * * ?", "Africa/Cairo")).await;
        let next = node.store.jobs().get(job.id).await.unwrap().unwrap().next_fire_at.unwrap();
        assert_eq!(next, START - 3_200_000 + 86_400_000);
        node.clock.set(next);
        node.register(&executor).await;
        node.round().await;
        assert_eq!(executor.runs().len(), 1);
    });
}
