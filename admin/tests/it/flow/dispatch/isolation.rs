//! What floods one app does not reach another, on the very same shard.

use std::time::Duration;

use std::sync::Arc;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, JobDraft, ManualClock, Millis, RouteStrategy, RunState, ScheduleDraft};
use carillon_store::Definition;
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use serde_json::json;

use crate::conformance::fixture::actor;
use crate::flow::dispatch::write_gate::Gate;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

const SECONDS: usize = 5;

/// A thousand jobs each second for one executor, which never answers.
async fn flood(node: &Node) -> RecordingExecutor {
    let now = node.clock.now();
    let by = actor();
    let app = node.store.apps().create("flood", "Flood", now, &by).await.unwrap();
    let draft = JobDraft { schedule: ScheduleDraft::fixed_rate(1), ..JobDraft::new("flood", "job", "handle") };
    let definition = Definition::check(&app, &draft, now).unwrap();
    let jobs = vec![definition; 1_000];
    node.store.jobs().create(jobs, now, &by, None).await.unwrap();
    let executor = RecordingExecutor::start().await;
    executor.reply(Reply::Never);
    let body = json!({"registryGroup": "EXECUTOR", "registryKey": "flood", "registryValue": executor.address});
    assert_eq!(node.post("api/registry", &body).await["code"], 200);
    executor
}

/// How late each run of a quiet app leaves, beside a flood or without one.
async fn lateness(db: &TestDatabase, beside_a_flood: bool) -> Vec<Millis> {
    let node = Node::with_shards(db, 1).await;
    let hanging = if beside_a_flood { Some(flood(&node).await) } else { None };
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    let job = node.every(1, |_| ()).await;
    node.renew_leases().await;
    for second in 1..=SECONDS {
        node.clock.advance(Duration::from_secs(1));
        node.services.scanners.all()[0].step().await;
        node.dispatch().await;
        wait_for("the quiet app's run has come", async || executor.runs().len() == second).await;
    }
    // Accepted runs are written after a while.
    wait_for("all are written", async || {
        node.clock.advance(Duration::from_millis(200));
        node.services.completer.step().await;
        let runs = node.runs(&job).await;
        runs.iter().filter(|run| run.state == RunState::Running).count() == SECONDS
    })
    .await;
    if let Some(hanging) = hanging {
        let open = node.store.runs().open_runs(64).await.unwrap();
        let waiting = open.iter().find(|(state, _)| *state == RunState::Claimed).unwrap().1;
        assert!(waiting > 3_000, "it is a flood: {waiting}");
        assert!(hanging.runs().len() >= 32, "and all its slots are taken");
    }
    let runs = node.runs(&job).await;
    let sent = runs.iter().filter_map(|run| Some(run.sent_at? - run.due_at));
    sent.collect()
}

// covers: 000-19
#[test]
fn a_flood_of_one_app_holds_up_no_other() {
    on(Kind::Sqlite, async |db| {
        assert_eq!(lateness(db, true).await, [0; SECONDS]);
    });
    on(Kind::Sqlite, async |db| {
        assert_eq!(lateness(db, false).await, [0; SECONDS], "as without it");
    });
}

// covers: F7
#[test]
fn a_broadcast_whose_expansion_is_held_up_delays_no_mark() {
    on(Kind::Postgres, async |db| {
        let node = Node::on(db.config(), Arc::new(ManualClock::new(START))).await;
        let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        for executor in &executors {
            node.register(executor).await;
        }
        let broadcast = node.job(|draft| draft.route = RouteStrategy::Broadcast).await;
        let [beside, later] = [node.job(|_| ()).await, node.job(|_| ()).await];
        node.renew_leases().await;
        node.fire(&broadcast).await;
        let beside = node.fire(&beside).await;
        let gate = Gate::before(db, "NEW.parts <> OLD.parts").await;
        tick_to_its_end(&node).await;
        gate.reached().await;
        let later = node.fire(&later).await;
        tick_to_its_end(&node).await;
        let sent = || -> Vec<i64> {
            let runs = executors.iter().flat_map(RecordingExecutor::runs);
            runs.map(|run| run.run_id()).collect()
        };
        wait_for("both plain runs are sent", async || sent().len() == 2).await;
        assert!(sent().contains(&beside) && sent().contains(&later));
        assert_eq!(node.states(&broadcast).await, [RunState::Claimed]);
        gate.open().await;
        // In a second try, if the first has reached its limit.
        wait_for("the parts of the broadcast are sent", async || {
            node.advance(200).await;
            node.states(&broadcast).await == [RunState::Running; 2]
        })
        .await;
        assert_eq!(sent().len(), 4, "each part was sent once");
    });
}

async fn tick_to_its_end(node: &Node) {
    node.scan().await;
    let tick = node.services.dispatcher.clone();
    let ticking = tokio::spawn(async move { tick.step().await });
    wait_for("the tick has come to its end", async || ticking.is_finished()).await;
}
