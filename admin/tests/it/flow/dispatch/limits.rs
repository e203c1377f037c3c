//! One sick executor delays no other executor, and one sick job no other job.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, ManualClock, RouteStrategy, RunState, ScheduleDraft};
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply, wait_for};

use crate::flow::node::{Node, START, on_node};
use crate::services::{Kind, TestDatabase, runtime};

// covers: 001-37, 002-28, 003-27
#[test]
fn a_hanging_executor_holds_its_own_slots_alone() {
    on_node(async |node| {
        let (hanging, well) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        hanging.reply(Reply::Never);
        node.register(&hanging).await;
        node.register(&well).await;
        let job = node.job(|_| ()).await;
        for _ in 0..100 {
            node.fire(&job).await;
        }
        node.renew_leases().await;
        node.scan().await;
        node.dispatch().await;
        wait_for("the well one has its share", || async { well.runs().len() == 50 }).await;
        wait_for("no more than 32 at once hang", || async { hanging.runs().len() == 32 }).await;
        node.services.completer.step().await;
        // By the real clock of the client its requests time out; what waits behind them goes to the other.
        wait_for("the others go elsewhere", || async {
            node.clock.advance(Duration::from_millis(2));
            node.renew_leases().await;
            node.services.completer.step().await;
            node.dispatch().await;
            well.runs().len() + hanging.runs().len() == 100
        })
        .await;
        // Three time-outs close the address; slots that are left until then may be taken once more.
        let hung = hanging.runs().len();
        assert!((32..=40).contains(&hung), "{hung}");
        let sending = node.states(&job).await.into_iter();
        let sending = sending.filter(|state| *state == RunState::Sending).count();
        assert!(sending >= hung, "their outcome is unknown; they are not sent again");
    });
}

/// A node with a request timeout that no test reaches.
async fn patient_node(database: &TestDatabase) -> Node {
    let mut config = database.config();
    config.engine.request_timeout = Duration::from_secs(30);
    Node::on(config, Arc::new(ManualClock::new(START))).await
}

/// A hundred fires: as many hang as an executor has slots, all others reach the one that is well.
async fn send_all_but_those_that_hang(node: &Node, job: &Job, hanging: &RecordingExecutor, well: &RecordingExecutor) {
    for _ in 0..100 {
        node.fire(job).await;
    }
    node.renew_leases().await;
    node.scan().await;
    node.dispatch().await;
    wait_for("all but those that hang are with the well one", || async {
        node.clock.advance(Duration::from_millis(50));
        node.renew_leases().await;
        node.services.completer.step().await;
        node.services.unmarker.step().await;
        node.dispatch().await;
        well.runs().len() == 100 - 32
    })
    .await;
    assert_eq!(hanging.runs().len(), 32, "none has ended, so no other one got a slot");
}

/// Nothing times out here: the runs behind those that hang leave because nothing moves there.
// covers: 001-37
#[test]
fn what_waits_behind_a_hanging_executor_leaves_before_a_request_times_out() {
    runtime().block_on(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let node = patient_node(&database).await;
        let (hanging, well) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        hanging.reply(Reply::Never);
        node.register(&hanging).await;
        node.register(&well).await;
        let job = node.job(|_| ()).await;
        send_all_but_those_that_hang(&node, &job, &hanging, &well).await;
    });
}

/// The first executor refuses its connections, the second hangs: no run waits for the first behind those that hang.
// covers: 001-37
#[test]
fn what_waits_for_an_executor_that_is_gone_does_not_hang_with_another() {
    runtime().block_on(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let node = patient_node(&database).await;
        let mut executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        executors.sort_by(|left, right| left.address.cmp(&right.address));
        let [hanging, well] = executors;
        hanging.reply(Reply::Never);
        node.register_address("http://127.0.0.1:1/", None).await;
        node.register(&hanging).await;
        node.register(&well).await;
        let job = node.job(|draft| draft.route = RouteStrategy::First).await;
        send_all_but_those_that_hang(&node, &job, &hanging, &well).await;
    });
}

/// Four thousand runs a second for an executor that never answers.
// covers: 001-9
#[test]
fn under_load_each_of_the_three_limits_bounds_its_queue() {
    const IN_MEMORY: usize = 2_500;
    runtime().block_on(async {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        (config.shards, config.engine.ring_capacity) = (Some(1), IN_MEMORY);
        config.engine.request_timeout = Duration::from_secs(30);
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        let hanging = RecordingExecutor::start().await;
        hanging.reply(Reply::Never);
        node.register(&hanging).await;
        node.create_jobs(4_000, |draft| draft.schedule = ScheduleDraft::fixed_rate(1)).await;
        let marked = async || -> i64 {
            let open = node.store.runs().open_runs(1).await.unwrap();
            open.iter().filter(|(state, _)| *state == RunState::Sending).map(|(_, count)| count).sum()
        };
        let in_memory = || -> usize {
            let metrics = node.metrics();
            let line = metrics.lines().find_map(|line| line.strip_prefix("carillon_ring_entries ")).unwrap();
            line.parse().unwrap()
        };
        for _ in 0..5 {
            node.clock.advance(Duration::from_secs(1));
            node.renew_leases().await;
            node.scan().await;
            // A job may have some instants in its claim.
            assert!(in_memory() <= IN_MEMORY + 100, "{}", in_memory());
            node.dispatch().await;
            assert!(marked().await <= 1_000 && hanging.runs().len() <= 32);
        }
        assert_eq!(marked().await, 1_000, "all places of the executor are taken");
        wait_for("all its slots too", || async { hanging.runs().len() == 32 }).await;
    });
}

// covers: 003-20, 003-21, I11
#[test]
fn a_job_whose_schedule_was_spoilt_is_paused_with_the_reason_and_stops_nobody() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let (spoilt, sound) = (node.every(1, |_| ()).await, node.every(1, |_| ()).await);
        let url = format!("sqlite://{}", node.config.data_dir.join("carillon.db").display());
        let raw = sea_orm::Database::connect(url).await.unwrap();
        let text = r#"UPDATE job SET schedule_text = '{"kind":"cron","expression":"61 * * * * ?","timezone":"UTC"}' WHERE id = "#;
        sea_orm::ConnectionTrait::execute_unprepared(&raw, &format!("{text}{}", spoilt.id)).await.unwrap();
        for _ in 0..4 {
            node.advance(1_000).await;
        }
        let paused = node.store.jobs().get(spoilt.id).await.unwrap().unwrap();
        assert!(!paused.draft.enabled);
        assert!(paused.paused_reason.as_deref().unwrap().contains("second"), "{:?}", paused.paused_reason);
        assert!(node.runs(&sound).await.len() >= 4, "003-21: the other one goes on");
        assert_eq!(paused.next_fire_at, None);
        assert!(node.clock.now() > 0);
    });
}

// covers: 6.3
#[test]
fn what_found_no_room_goes_as_soon_as_there_is_some() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        for _ in 0..1_700 {
            node.fire(&job).await;
        }
        node.renew_leases().await;
        node.scan().await;
        let did = node.dispatch().await.did;
        assert_eq!((did.due, did.sent, did.waiting), (1_700, 1_000, 700));
        // The clock is not moved.
        wait_for("all have left", async || {
            node.dispatch().await;
            executor.runs().len() == 1_700
        })
        .await;
    });
}

// covers: 6.3
#[test]
fn when_all_executors_are_full_every_instant_has_a_row_and_waits() {
    on_node(async |node| {
        let hanging = RecordingExecutor::start().await;
        hanging.reply(Reply::Never);
        node.register(&hanging).await;
        let job = node.job(|_| ()).await;
        for _ in 0..1_100 {
            node.fire(&job).await;
        }
        node.renew_leases().await;
        assert_eq!(node.scan().await.did.adopted, 1_100);
        let did = node.dispatch().await.did;
        assert_eq!((did.due, did.sent, did.waiting, did.failed), (1_100, 1_000, 100, 0));
        let runs = node.store.runs().open_runs(64).await.unwrap();
        let count = |state| runs.iter().find(|(known, _)| *known == state).map_or(0, |(_, count)| *count);
        assert_eq!((count(RunState::Sending), count(RunState::Claimed)), (1_000, 100));
        assert!(node.metrics().contains("carillon_saturated_total 100"), "it is counted");
    });
}
