//! What an executor answers, or does not, and what that means for the run.

use carillon_scheduler::RunState;
use carillon_store::Actor;
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use serde_json::json;

use crate::flow::node::with_registered_executor;

// covers: 004-24
#[test]
fn a_refused_run_fails_with_the_executors_words() {
    with_registered_executor(async |node, executor| {
        executor.reply(Reply::Body(json!({"code": 500, "msg": "job handler [handle] not found."}).to_string()));
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("refused")));
        assert_eq!(run.message(), "job handler [handle] not found.");
    });
}

// covers: H29
#[test]
fn the_array_of_go_executors_is_a_refusal() {
    with_registered_executor(async |node, executor| {
        executor.reply(Reply::Body(
            json!([{"logId": 1, "handleCode": 500, "handleMsg": "There are tasks running"}]).to_string(),
        ));
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.message().as_str()), (RunState::Failed, "There are tasks running"));
    });
}

// covers: H29
#[test]
fn a_page_of_a_proxy_leaves_the_outcome_unknown_until_evidence_comes() {
    with_registered_executor(async |node, executor| {
        executor.reply(Reply::Status(502));
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Sending], "it may have run: it is not sent again");
        node.clock.advance(std::time::Duration::from_secs(11));
        node.round().await;
        carillon_engine::runtime::Service::step(&*node.services.resolver).await;
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
        assert_eq!(executor.runs().len(), 1);
        node.callback(&[(run_id, 200, "it had run")]).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded], "evidence beats assumption");
    });
}

// covers: H25, A11
#[test]
fn a_connection_that_is_not_made_is_known_not_sent_and_another_executor_gets_the_same_run() {
    with_registered_executor(async |node, dead| {
        let living = RecordingExecutor::start().await;
        node.register(&living).await;
        dead.die().await;
        let job = node.job(|_| ()).await;
        for _ in 0..4 {
            node.fire(&job).await;
        }
        node.round().await;
        // A run that was marked for the dead one, and had not tried to connect when the first refusal closed that address,
        // goes back to the ring and leaves with a later tick.
        for _ in 0..2 {
            node.advance(400).await;
        }
        assert_eq!(living.runs().len(), 4);
        let runs = node.runs(&job).await;
        assert!(
            runs.iter()
                .all(|run| run.state == RunState::Running && run.address.as_deref() == Some(living.address.as_str()))
        );
        assert_eq!(runs.iter().map(|run| run.attempt).max(), Some(1), "the same run, not a retry");
        let unreachable = |address: &str, seen_at| node.engine.is_unreachable("orders", address, seen_at);
        assert!(unreachable(&dead.address, 0), "the page of executors says so");
        assert!(!unreachable(&dead.address, i64::MAX), "a heartbeat came after that");
        assert!(!unreachable(&living.address, 0));
    });
}

// covers: 002-29
#[test]
fn without_an_executor_a_run_fails_a_second_after_it_was_due_and_says_why() {
    with_registered_executor(async |node, executor| {
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
        assert_eq!(node.post("api/registryRemove", &body).await["code"], 200);
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Claimed], "one may register yet");
        node.advance(1_300).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        assert_eq!(run.message(), "no executor of app orders is registered");
    });
}

// covers: A11
#[test]
fn a_kill_is_asked_by_run_and_its_end_counts_as_killed() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        assert_eq!(
            node.engine.runs().kill(run_id, &Actor::engine()).await.unwrap(),
            carillon_engine::manage::KillResult::Asked
        );
        let asked = &executor.received("/kill")[0];
        assert_eq!(asked.json(), json!({"jobId": job.id}));
        assert_eq!(asked.header("Carillon-Run-Id"), Some(run_id.to_string().as_str()));
        assert_eq!(node.states(&job).await, [RunState::Running], "asked is not stopped");
        node.callback(&[(run_id, 500, "scheduling center kill job. [job running, killed]")]).await;
        assert_eq!(node.states(&job).await, [RunState::Killed]);
        let said = node.runs(&job).await[0].message();
        assert_eq!(said, "scheduling center kill job. [job running, killed]", "the executor's own words");
        assert_eq!(
            node.engine.runs().kill(run_id, &Actor::engine()).await.unwrap(),
            carillon_engine::manage::KillResult::AlreadyEnded
        );
    });
}

// covers: A11
#[test]
fn a_kill_whose_end_is_never_reported_counts_when_the_executor_no_longer_has_the_run() {
    with_registered_executor(async |node, _| {
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        node.engine.runs().kill(run_id, &Actor::engine()).await.unwrap();
        for (millis, state) in [(31_000, RunState::Running), (10_000, RunState::Killed)] {
            node.advance(millis).await;
            carillon_engine::runtime::Service::step(&*node.services.monitor).await;
            node.drain().await;
            assert_eq!(node.states(&job).await, [state]);
        }
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Killed, Some("unconfirmed")));
        assert_eq!(run.message(), "killed; its end was not reported");
    });
}

#[test]
fn a_callback_that_cannot_be_stored_is_not_answered() {
    with_registered_executor(async |node, _| {
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        // Nothing writes results now: `complete` is not stepped.
        let call = reqwest::Client::new()
            .post(format!("{}/xxl-job-admin/api/callback", node.url))
            .header("XXL-JOB-ACCESS-TOKEN", &node.config.access_token)
            .body(json!([{"logId": run_id, "handleCode": 200}]).to_string());
        let error = call.send().await.unwrap_err();
        assert!(!error.is_timeout() && !error.is_connect(), "the connection is cut: {error:?}");
        wait_for("the result that was not answered may still be stored", || async {
            carillon_engine::runtime::Service::step(&*node.services.completer).await;
            node.states(&job).await == [RunState::Succeeded]
        })
        .await;
    });
}
