//! A run whose answer was lost is sent again only to the journal that it was sent to, and only while that is fresh.

use carillon_store::Actor;
use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{ManualClock, RouteStrategy, RunState};
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use serde_json::json;

use crate::flow::dispatch::routes::announce;
use crate::flow::dispatch::write_gate::Gate;
use crate::flow::node::{Node, START, on_node};
use crate::services::{Kind, TestDatabase, on};

async fn beat(node: &Node, executor: &RecordingExecutor, boot_id: &str, journal_id: Option<&str>) {
    let mut said = vec![("Carillon-Boot-Id", boot_id), ("Carillon-Capabilities", "idem")];
    said.extend(journal_id.map(|id| ("Carillon-Journal-Id", id)));
    announce(node, executor, &said).await;
}

/// An executor of our SDK, and a run of which it was sent a request whose answer was lost.
async fn answer_lost(node: &Node, journal_id: Option<&str>) -> (RecordingExecutor, Job) {
    let executor = RecordingExecutor::start().await;
    beat(node, &executor, "first", journal_id).await;
    executor.reply(Reply::Status(502));
    let job = node.job(|_| ()).await;
    node.fire(&job).await;
    node.round().await;
    assert_eq!(node.states(&job).await, [RunState::Sending]);
    executor.reply(Reply::Accept);
    let nothing = json!({"code": 500, "msg": "this executor has no log of run"});
    executor.reply_to("/log", Reply::Body(nothing.to_string()));
    (executor, job)
}

async fn ask(node: &Node) {
    node.resolve_later().await;
    node.drain().await;
}

// covers: F4
#[test]
fn an_executor_that_has_lost_its_journal_is_asked_and_never_sent_the_run_again() {
    on_node(async |node| {
        let (executor, job) = answer_lost(node, Some("one")).await;
        beat(node, &executor, "second", Some("two")).await;
        ask(node).await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(executor.received("/log").len(), 1);
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sends), (RunState::Unknown, 1));
        assert_eq!(
            run.message(),
            "sent, and no clear answer came; its executor has restarted since, does not know the run and may keep another \
             journal, so the run was not sent again"
        );
    });
}

// covers: F4
#[test]
fn an_executor_with_another_journal_that_knows_the_run_is_believed() {
    on_node(async |node| {
        let (executor, job) = answer_lost(node, Some("one")).await;
        beat(node, &executor, "second", Some("two")).await;
        let page = json!({"fromLineNum": 1, "toLineNum": 1, "logContent": "begun\n", "isEnd": false});
        let page = json!({"code": 200, "content": page, "data": page});
        executor.reply_to("/log", Reply::Body(page.to_string()));
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        assert_eq!(executor.runs().len(), 1);
    });
}

// covers: F4
#[test]
fn the_same_journal_under_a_new_boot_id_is_sent_the_run_again_by_its_name() {
    on_node(async |node| {
        let (executor, job) = answer_lost(node, Some("one")).await;
        beat(node, &executor, "second", Some("one")).await;
        ask(node).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.sends), (RunState::Running, 2));
        let journals = executor.runs();
        let journals = journals.iter().map(|it| it.header("Carillon-Journal-Id"));
        assert_eq!(journals.collect::<Vec<_>>(), [None, Some("one")]);
    });
}

// covers: F4
#[test]
fn an_executor_that_comes_back_with_another_journal_before_it_registers_refuses_the_run() {
    on_node(async |node| {
        let (executor, job) = answer_lost(node, Some("one")).await;
        beat(node, &executor, "first", Some("one")).await;
        let other = json!({"code": 412, "msg": "this executor keeps another journal"});
        executor.reply(Reply::Body(other.to_string()));
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
    });
}

// covers: F4
#[test]
fn an_older_executor_without_a_journal_id_is_known_by_its_boot_id() {
    on_node(async |node| {
        let (executor, job) = answer_lost(node, None).await;
        beat(node, &executor, "second", None).await;
        ask(node).await;
        assert_eq!(node.states(&job).await, [RunState::Unknown]);
        assert_eq!(executor.runs().len(), 1);
    });
}

// covers: F4
#[test]
fn a_run_of_a_job_that_was_edited_meanwhile_is_sent_again_only_if_it_did_not_arrive() {
    on_node(async |node| {
        let (executor, job) = answer_lost(node, Some("one")).await;
        let mut draft = job.draft.clone();
        draft.params = "new".into();
        let job = node.edit(&job, draft).await;
        beat(node, &executor, "first", Some("one")).await;
        ask(node).await;
        assert_eq!(executor.received("/log").len(), 1, "it is asked first");
        let sent = executor.runs();
        assert_eq!(sent[1].json()["executorParams"], "new");
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.revision), (RunState::Running, Some(job.revision)));
    });
}

async fn frozen_while_sent_again(db: &TestDatabase) {
    let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
    let (executor, job) = answer_lost(&node, Some("one")).await;
    beat(&node, &executor, "first", Some("one")).await;
    let gate = Gate::before(db, "NEW.sends = 2 AND OLD.sends = 1").await;
    node.clock.advance(Duration::from_secs(11));
    node.renew_leases().await;
    node.services.resolver.step().await;
    gate.reached().await;
    node.clock.advance(Duration::from_secs(4));
    gate.open().await;
    node.drain().await;
    assert_eq!(executor.runs().len(), 1);
    assert_eq!(node.states(&job).await, [RunState::Sending]);
    // The executor is asked again, with a limit that counts from the new mark.
    beat(&node, &executor, "first", Some("one")).await;
    ask(&node).await;
    let run = &node.runs(&job).await[0];
    assert_eq!((run.state, run.sends), (RunState::Running, 3));
    let limit = executor.runs()[1].header("Carillon-Not-After").map(str::to_owned);
    let marked_at = run.marked_at.unwrap();
    assert_eq!(limit, Some((marked_at + 6_000).to_string()));
}

// covers: F12
#[test]
fn a_run_is_not_sent_again_long_after_that_was_allowed() {
    on(Kind::Postgres, async |db| frozen_while_sent_again(db).await);
}

async fn frozen_while_redirected(db: &TestDatabase) {
    let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
    let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
    for executor in &executors {
        node.register(executor).await;
    }
    let job = node.job(|draft| draft.route = RouteStrategy::First).await;
    let [dead, alive] = match executors[0].address < executors[1].address {
        true => [0, 1],
        false => [1, 0],
    };
    executors[dead].die().await;
    let gate = Gate::before(db, "OLD.state = 1 AND NEW.address <> OLD.address").await;
    node.fire(&job).await;
    node.renew_leases().await;
    node.scan().await;
    node.dispatch().await;
    gate.reached().await;
    node.clock.advance(Duration::from_secs(4));
    gate.open().await;
    node.drain().await;
    assert_eq!(executors[alive].runs().len(), 0);
    assert_eq!(node.states(&job).await, [RunState::Claimed]);
    node.advance(1_000).await;
    assert_eq!(node.states(&job).await, [RunState::Running]);
    assert_eq!(executors[alive].runs().len(), 1);
}

// covers: F12
#[test]
fn a_run_is_not_sent_to_the_next_executor_long_after_its_mark() {
    on(Kind::Postgres, async |db| frozen_while_redirected(db).await);
}

// covers: V5, S20
#[test]
fn an_address_that_is_no_longer_registered_gets_no_request_and_no_token() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        let gone = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
        assert_eq!(node.post("api/registryRemove", &gone).await["code"], 200);
        node.services.refresher.step().await;
        let words =
            format!("{} is no longer registered as an executor of orders, so it is not called", executor.address);
        let log = node.engine.runs().log(run_id, 1, &Actor::engine()).await.unwrap_err();
        assert!(log.to_string().contains(&words), "{log}");
        let kill = node.engine.runs().kill(run_id, &Actor::engine()).await.unwrap_err();
        assert!(kill.to_string().contains(&words), "{kill}");
        assert!(executor.received("/log").is_empty());
        assert!(executor.received("/kill").is_empty());
    });
}

// covers: F24
#[test]
fn runs_in_doubt_of_one_hanging_executor_do_not_keep_others_waiting() {
    on_node(async |node| {
        let hanging = RecordingExecutor::start().await;
        beat(node, &hanging, "first", Some("one")).await;
        // In both shards. An answer in between: an address is left alone after three requests without one.
        let (doubtful, answered) = ([node.job(|_| ()).await, node.job(|_| ()).await], node.job(|_| ()).await);
        for _ in 0..80 {
            hanging.reply(Reply::Status(502));
            for job in &doubtful {
                node.fire(job).await;
            }
            node.round().await;
            hanging.reply(Reply::Accept);
            node.fire(&answered).await;
            node.round().await;
        }
        for job in &doubtful {
            assert_eq!(node.states(job).await, [RunState::Sending; 80]);
        }
        let (other, answered) = answer_lost_beside(node).await;
        hanging.reply(Reply::Never);
        beat(node, &hanging, "first", Some("one")).await;
        node.clock.advance(Duration::from_secs(11));
        node.renew_leases().await;
        node.services.resolver.step().await;
        wait_for("the other executor's run is known", async || {
            node.clock.advance(Duration::from_millis(10));
            node.services.completer.step().await;
            node.states(&answered).await == [RunState::Running]
        })
        .await;
        assert_eq!(other.runs().len(), 2);
    });
}

/// The same in another app, later than all others.
async fn answer_lost_beside(node: &Node) -> (RecordingExecutor, Job) {
    let executor = RecordingExecutor::start().await;
    announce(
        node,
        &executor,
        &[("Carillon-Capabilities", "idem"), ("Carillon-Journal-Id", "three"), ("Carillon-Labels", "zone=eu")],
    )
    .await;
    executor.reply(Reply::Status(502));
    let job = node.job(|draft| draft.route_labels = "zone=eu".into()).await;
    node.fire(&job).await;
    node.round().await;
    assert_eq!(node.states(&job).await, [RunState::Sending]);
    executor.reply(Reply::Accept);
    (executor, job)
}
