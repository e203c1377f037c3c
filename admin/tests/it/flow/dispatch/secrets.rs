//! Secrets in the parameters of jobs: they leave with the request to the executor, and nothing else has them.

use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_engine::manage::{BulkRequest, Error, JobAction, RunAction, RunRequest, Selection};
use carillon_protocol::RunBatch;
use carillon_scheduler::{Cause, JobDraft, ManualClock, RetryDelay, RunState};
use carillon_store::Job;
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_testkit::{RecordingExecutor, Reply};
use sea_orm::ConnectionTrait as _;
use serde_json::json;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

const SECRET: &str = "s3cret/\"word\"";
const NAMED: &str = "{{scheduled_at|%F}} {{secret.KEY}}";

/// A node with a key for secrets, whose app has the secret `KEY`, and an executor.
fn with_secret(test: impl AsyncFnOnce(&Node, &RecordingExecutor)) {
    on(Kind::Sqlite, async |db| {
        let mut config = db.config();
        config.shards = Some(2);
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        node.engine.app_secrets().set(node.app.id, "KEY", SECRET, &actor()).await.unwrap();
        test(&node, &RecordingExecutor::start().await).await;
    });
}

fn params(executor: &RecordingExecutor) -> Vec<String> {
    executor.runs().iter().map(|run| run.json()["executorParams"].as_str().unwrap().to_owned()).collect()
}

async fn naming(node: &Node, change: impl FnOnce(&mut JobDraft)) -> Job {
    node.job(|draft| {
        draft.params = NAMED.into();
        change(draft);
    })
    .await
}

fn asked(job: &Job, cause: Cause, params: &str) -> RunRequest {
    let params = Some(params.to_owned());
    RunRequest { job_id: job.id, cause, params, parts: None, address: None, priority: None, idempotency_key: None }
}

fn day() -> String {
    chrono::DateTime::from_timestamp_millis(START).unwrap().format("%F").to_string()
}

// covers: 001-44
#[test]
fn a_secret_in_parameters_reaches_a_stock_executor() {
    with_secret(async |node, executor| {
        node.register(executor).await;
        let plain = naming(node, |_| ()).await;
        let json = naming(node, |draft| draft.params = r#"{"key": "{{ secret.KEY }}"}"#.into()).await;
        // Long parameters are read when the run is marked.
        let long = "x".repeat(2_000);
        let apart = naming(node, |draft| draft.params = format!("{long}{{{{secret.KEY}}}}")).await;
        for job in [&plain, &json, &apart] {
            node.fire(job).await;
            node.round().await;
        }
        let expected = [
            format!("{} {SECRET}", day()),
            json!({"key": SECRET}).to_string().replace("\":\"", "\": \""),
            format!("{long}{SECRET}"),
        ];
        assert_eq!(params(executor), expected);
    });
}

// covers: 001-44
#[test]
fn a_secret_in_parameters_reaches_an_executor_of_batches() {
    with_secret(async |node, executor| {
        node.register_batching(executor).await;
        for params in [NAMED, "{{secret.KEY}}", "{{run_id}}"] {
            let job = naming(node, |draft| draft.params = params.into()).await;
            node.fire(&job).await;
        }
        node.round().await;
        let mut received = params(executor);
        for batch in executor.received("/runs") {
            let batch: RunBatch = serde_json::from_str(&batch.body).unwrap();
            received.extend(batch.runs.into_iter().map(|run| run.run.params));
        }
        assert_eq!(executor.received("/runs").len(), 1, "the two that name the secret travel together");
        assert_eq!(received.len(), 3);
        assert!(received.contains(&format!("{} {SECRET}", day())) && received.contains(&SECRET.to_owned()));
    });
}

/// As if no node had the key of this secret any more.
async fn seal_by_a_lost_key(node: &Node, name: &str) {
    let other = SecretKeys::parse(&random_secret()).unwrap();
    let value = other.seal(&format!("secret {} {name}", node.app.id), SECRET).unwrap();
    node.store.apps().set_secret(&node.app, name, &value, START, &actor()).await.unwrap();
}

// covers: 001-44
#[test]
fn a_text_in_which_a_secret_cannot_be_found_is_not_shown() {
    with_secret(async |node, executor| {
        node.register(executor).await;
        let job = naming(node, |_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        assert_eq!(params(executor), [format!("{} {SECRET}", day())]);
        seal_by_a_lost_key(node, "KEY").await;
        node.callback(&[(run, 500, &format!("wrong key {SECRET}"))]).await;
        assert_eq!(node.runs(&job).await[0].message(), "not shown: no key of this node decrypts the secret KEY");
    });
}

// covers: 001-44
#[test]
fn a_run_without_its_secret_fails_with_the_reason_and_is_not_sent() {
    with_secret(async |node, executor| {
        node.register(executor).await;
        let missing = naming(node, |draft| draft.params = "{{secret.KEY}} {{secret.NONE}}".into()).await;
        node.engine.app_secrets().set(node.app.id, "SEALED", SECRET, &actor()).await.unwrap();
        let sealed = naming(node, |draft| draft.params = "{{secret.SEALED}}".into()).await;
        seal_by_a_lost_key(node, "SEALED").await;
        for (job, why) in [
            (&missing, "the secret NONE is not set; the run was not sent"),
            (&sealed, "no key of this node decrypts the secret SEALED; the run was not sent"),
        ] {
            node.fire(job).await;
            node.round().await;
            let run = node.runs(job).await.remove(0);
            assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("refused")));
            assert_eq!(run.message(), why);
        }
        assert!(executor.runs().is_empty());
    });
}

// covers: 001-44
#[test]
fn a_text_of_others_reads_no_secret_by_naming_it() {
    with_secret(async |node, executor| {
        node.register(executor).await;
        let named = "{{secret.KEY}}";
        let plain = node.job(|_| ()).await;
        let naming = naming(node, |_| ()).await;
        for job in [&plain, &naming] {
            for cause in [Cause::Manual, Cause::Api] {
                node.engine.jobs().run(asked(job, cause, named), &actor()).await.unwrap();
                node.round().await;
            }
        }
        assert_eq!(params(executor), [named; 4], "what was given with a run");
        executor.forget_calls();
        let child = node.job(|draft| draft.takes_result = true).await;
        let parent = node.job(|draft| draft.children = vec![child.id]).await;
        let run = node.fire(&parent).await;
        node.round().await;
        node.callback(&[(run, 200, named)]).await;
        node.round().await;
        assert_eq!(params(executor).last().map(String::as_str), Some(named), "the result of a parent");
        // Also when the run that got it is run again: the text is still that of another run.
        let of_child = node.runs(&child).await[0].id;
        node.callback(&[(of_child, 500, "no")]).await;
        rerun(node, of_child).await;
        assert_eq!(params(executor).last().map(String::as_str), Some(named), "a rerun of the child");
        let of_api = node.runs(&naming).await[0].id;
        node.callback(&[(of_api, 500, "no")]).await;
        rerun(node, of_api).await;
        assert_eq!(params(executor).last().map(String::as_str), Some(named), "a rerun of what the API gave");
        assert!(executor.runs().iter().all(|run| !run.body.contains("s3cret")));
    });
}

async fn rerun(node: &Node, run_id: i64) {
    let action = RunAction::Rerun { cause: Cause::Manual, repeated: false };
    let selection = Selection::Ids(vec![run_id]);
    let request = BulkRequest { selection: &selection, action, expected: None, idempotency_key: None };
    assert_eq!(node.engine.do_with_all(request, &actor()).await.unwrap().done, 1);
    node.round().await;
}

// covers: 001-44
#[test]
fn retries_and_reruns_have_the_secrets_of_the_saved_parameters() {
    with_secret(async |node, executor| {
        node.register(executor).await;
        let retry =
            |draft: &mut JobDraft| (draft.retries, draft.retry_delay) = (1, RetryDelay::Fixed { seconds: vec![0] });
        let job = naming(node, retry).await;
        let sent = format!("{} {SECRET}", day());
        let first = node.fire(&job).await;
        node.round().await;
        node.callback(&[(first, 500, "no")]).await;
        node.advance(1_000).await;
        let second = node.runs(&job).await[1].id;
        node.callback(&[(second, 500, "no")]).await;
        // The next day: a rerun is for the day of its original, and so is its retry.
        node.advance(86_400_000).await;
        node.register(executor).await;
        rerun(node, second).await;
        let third = node.runs(&job).await.pop().unwrap();
        assert_eq!(
            node.engine.runs().get(third.id).await.unwrap().params.unwrap(),
            format!("{} {{{{secret.KEY}}}}", day())
        );
        node.callback(&[(third.id, 500, "no")]).await;
        node.advance(1_000).await;
        assert_eq!(params(executor), vec![sent; 4]);
        // By the form, unchanged and changed.
        let repeated = format!("{} {{{{secret.KEY}}}}", day());
        for (text, expected) in
            [(repeated.clone(), format!("{} {SECRET}", day())), (format!("{repeated}!"), format!("{repeated}!"))]
        {
            node.engine.jobs().run_again(asked(&job, Cause::Manual, &text), Some(second), &actor()).await.unwrap();
            node.advance(1_000).await;
            assert_eq!(params(executor).pop(), Some(expected));
        }
    });
}

// covers: 001-44
#[test]
fn what_an_executor_repeats_of_a_secret_is_masked() {
    with_secret(async |node, executor| {
        node.register(executor).await;
        let job = naming(node, |_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        let page =
            json!({"fromLineNum": 1, "toLineNum": 2, "logContent": format!("Param: {SECRET}\nend\n"), "isEnd": true});
        executor.reply_to("/log", Reply::Body(json!({"code": 200, "content": page}).to_string()));
        let log = node.engine.runs().log(run, 1, &actor()).await.unwrap();
        assert_eq!((log.content.as_str(), log.to), ("Param: ***\nend\n", 2));
        // Also after an edit: the parameters that it was sent are on record.
        let edited = node.edit(&job, JobDraft { params: "none".into(), ..job.draft.clone() }).await;
        node.callback(&[(run, 500, &format!("wrong key {} {SECRET}", json!(SECRET)))]).await;
        assert_eq!(node.runs(&edited).await[0].message(), "wrong key \"***\" ***");
        let alarms = node.store.alarms().list(&AlarmFilter::default()).await.unwrap().items;
        assert!(alarms.iter().all(|alarm| !alarm.alarm.text.contains("s3cret")), "{alarms:?}");
        // The job of another text is left alone.
        let plain = node.job(|_| ()).await;
        let run = node.fire(&plain).await;
        node.round().await;
        node.callback(&[(run, 200, SECRET)]).await;
        assert_eq!(node.runs(&plain).await[0].message(), SECRET);
        executor.reply(Reply::refused(&format!("cannot read {SECRET}")));
        let refused = naming(node, |_| ()).await;
        node.fire(&refused).await;
        node.round().await;
        assert_eq!(node.runs(&refused).await[0].message(), "cannot read ***");
    });
}

// covers: 001-44
#[test]
fn a_job_is_saved_only_with_secrets_that_its_app_has() {
    with_secret(async |node, _| {
        let draft = |params: &str| JobDraft { params: params.into(), ..JobDraft::new("orders", "job", "handle") };
        let refused = async |draft: JobDraft| match node.engine.jobs().create(draft, None, &actor()).await {
            Err(Error::Invalid(wrong)) => wrong.iter().map(ToString::to_string).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let missing = "params: names the secret NONE, which the app orders does not have";
        assert_eq!(refused(draft("{{secret.KEY}} {{secret.NONE}}")).await, [missing]);
        let job = node.engine.jobs().create(draft(NAMED), None, &actor()).await.unwrap();
        assert_eq!(job.draft.params, NAMED);
        let changed = draft("{{secret.NONE}}");
        let Err(Error::Invalid(wrong)) = node.engine.jobs().update(job.id, &changed, None, &actor()).await else {
            panic!("it was saved");
        };
        assert_eq!(wrong.iter().map(ToString::to_string).collect::<Vec<_>>(), [missing]);
        // It cannot move to an app without the secret either, where its runs would fail.
        node.store.apps().create("other", "Other", START, &actor()).await.unwrap();
        let selection = Selection::Ids(vec![job.id]);
        let action = JobAction::Move("other".into());
        let request = BulkRequest { selection: &selection, action, expected: None, idempotency_key: None };
        let moved = node.engine.do_with_all(request, &actor()).await.unwrap();
        assert_eq!((moved.done, moved.refused.len()), (0, 1), "{moved:?}");
        assert!(format!("{moved:?}").contains("names the secret KEY, which the app other does not have"), "{moved:?}");
    });
}

// covers: 001-44
#[test]
fn a_job_names_a_secret_when_each_live_node_can_send_it() {
    on(Kind::Sqlite, async |db| {
        let mut config = db.config();
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        node.engine.app_secrets().set(node.app.id, "KEY", SECRET, &actor()).await.unwrap();
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let old =
            "INSERT INTO node (id, address, version, seen_at, features) VALUES ('old', 'http://10.0.0.9/', '0.1.0', ";
        raw.execute_unprepared(&format!("{old}{START}, 'http2')")).await.unwrap();
        let draft = JobDraft { params: NAMED.into(), ..JobDraft::new("orders", "job", "handle") };
        let Err(Error::Invalid(wrong)) = node.engine.jobs().create(draft.clone(), None, &actor()).await else {
            panic!("it was saved");
        };
        let why = "cannot name a secret while http://10.0.0.9/ is of an earlier version, which cannot send it";
        assert_eq!((wrong[0].field.as_str(), wrong[0].message.as_str()), ("params", why));
        raw.execute_unprepared("UPDATE node SET features = 'http2,secret_params' WHERE id = 'old'").await.unwrap();
        node.engine.jobs().create(draft, None, &actor()).await.unwrap();
    });
}
