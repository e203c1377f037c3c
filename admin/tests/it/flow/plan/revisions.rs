//! A run is sent with its job's definition as it is when the run is marked, all of it: route, labels, app and body.

use std::sync::Arc;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, JobDraft, ManualClock, RunState};
use carillon_store::{Definition, DefinitionContext, Job};
use carillon_testkit::{RecordingExecutor, wait_for};
use sea_orm::{ConnectionTrait as _, Statement, TransactionTrait as _};
use serde_json::json;

use crate::conformance::fixture::actor;
use crate::flow::dispatch::routes::announce;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

/// Two executors of one app, and a job without a schedule that has been sent to the first one once.
async fn sent_to_eu(node: &Node) -> ([RecordingExecutor; 2], Job) {
    let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
    announce(node, &executors[0], &[("Carillon-Labels", "zone=eu")]).await;
    announce(node, &executors[1], &[("Carillon-Labels", "zone=us")]).await;
    let job = node.job(|draft| draft.route_labels = "zone=eu".into()).await;
    node.fire(&job).await;
    node.round().await;
    assert_eq!(executors.each_ref().map(|it| it.runs().len()), [1, 0]);
    (executors, job)
}

// covers: F6
#[test]
fn after_an_edit_of_its_labels_a_job_without_a_schedule_goes_to_the_new_executor() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let (executors, job) = sent_to_eu(&node).await;
        let draft = JobDraft { route_labels: "zone=us".into(), ..job.draft.clone() };
        let job = node.edit(&job, draft).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(executors.each_ref().map(|it| it.runs().len()), [1, 1]);
        let revisions: Vec<_> = node.runs(&job).await.iter().map(|it| it.revision).collect();
        assert_eq!(revisions, [Some(job.revision - 1), Some(job.revision)]);
    });
}

// covers: F6
#[test]
fn a_job_that_moved_to_another_app_is_sent_to_that_apps_executors_alone() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let (executors, job) = sent_to_eu(&node).await;
        let now = node.clock.now();
        let by = actor();
        let created = node.store.apps().create("billing", "Billing", now, &by);
        let billing = created.await.unwrap();
        let third = RecordingExecutor::start().await;
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "billing", "registryValue": third.address});
        assert_eq!(node.post("api/registry", &body).await["code"], 200);
        node.services.refresher.step().await;
        let draft = JobDraft { app: "billing".into(), route_labels: String::new(), ..job.draft.clone() };
        let around = DefinitionContext::of(&billing, &job, &job.calendars);
        let definition = Definition::check_in(around, &draft, now).unwrap();
        let moved = node.store.jobs().update(job.id, &definition, None, now, &by);
        moved.await.unwrap();
        node.fire(&job).await;
        node.round().await;
        assert_eq!(executors.each_ref().map(|it| it.runs().len()), [1, 0]);
        assert_eq!(third.runs().len(), 1);
        assert_eq!(third.runs()[0].header("XXL-JOB-APPNAME"), Some("billing"));
        let run = node.runs(&job).await.pop().unwrap();
        assert_eq!((run.app.as_str(), run.state), ("billing", RunState::Running));
    });
}

/// A mark that waits for another transaction's lock, so that an edit can be committed before it.
async fn edited_while_marked(db: &TestDatabase) {
    let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
    let (executors, job) = sent_to_eu(&node).await;
    let run_id = node.fire(&job).await;
    node.renew_leases().await;
    node.scan().await;
    let outside = sea_orm::Database::connect(db.direct_url()).await.unwrap();
    let transaction = outside.begin().await.unwrap();
    let lock = format!("SELECT id FROM run WHERE id = {run_id} FOR UPDATE");
    transaction.execute_unprepared(&lock).await.unwrap();
    let tick = node.services.dispatcher.clone();
    let marking = tokio::spawn(async move { tick.step().await });
    wait_for("the mark waits for the lock", async || {
        let text =
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let asked = Statement::from_string(sea_orm::DbBackend::Postgres, text);
        let row = outside.query_one_raw(asked).await.unwrap().unwrap();
        row.try_get_by_index::<i64>(0).unwrap() > 0
    })
    .await;
    let draft = JobDraft { route_labels: "zone=us".into(), params: "new".into(), ..job.draft.clone() };
    let job = node.edit(&job, draft).await;
    transaction.commit().await.unwrap();
    marking.await.unwrap();
    node.drain().await;
    assert_eq!(node.runs(&job).await[1].state, RunState::Claimed);
    node.advance(300).await;
    assert_eq!(executors.each_ref().map(|it| it.runs().len()), [1, 1]);
    assert_eq!(executors[1].runs()[0].json()["executorParams"], "new");
    let run = &node.runs(&job).await[1];
    assert_eq!((run.revision, run.sends), (Some(job.revision), 1));
}

// covers: F6
#[test]
fn a_run_marked_with_a_definition_that_was_edited_meanwhile_is_given_back_and_goes_by_the_new_one() {
    on(Kind::Postgres, async |db| edited_while_marked(db).await);
}
