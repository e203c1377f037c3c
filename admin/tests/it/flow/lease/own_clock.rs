//! SQLite has no clock: its one node goes by the clock of its machine, which may be set, or be stopped while the machine sleeps.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_inspect::audit::audit_job;
use carillon_scheduler::{AlarmKind, Clock as _, ManualClock, Millis};
use carillon_store::Job;
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

const HOUR: i64 = 3_600_000;

async fn node(db: &TestDatabase) -> Node {
    let mut config = db.config();
    config.shards = Some(2);
    Node::on(config, Arc::new(ManualClock::following(START))).await
}

fn wall(node: &Node) -> Millis {
    node.clock.wall().unwrap()
}

/// A second in which the clock is looked at and everything else is done once.
async fn second(node: &Node) {
    node.clock.advance(Duration::from_secs(1));
    node.services.clock_guard.step().await;
    let ahead = wall(node) - node.clock.now();
    node.round().await;
    // A round lets the monotonic clock go on alone.
    node.clock.set_wall(node.clock.now() + ahead);
}

async fn alarms(node: &Node) -> Vec<String> {
    let filter = AlarmFilter { kinds: vec![AlarmKind::Clock], limit: 100, ..AlarmFilter::default() };
    let page = node.store.alarms().list(&filter).await.unwrap();
    page.items.into_iter().map(|row| row.alarm.text).collect()
}

async fn instants(node: &Node, job: &Job) -> Vec<Millis> {
    let runs = node.runs(job).await;
    runs.iter().map(|run| run.scheduled_at).collect()
}

/// Instants of the last two hours that nothing on record explains.
async fn unexplained(node: &Node, job: &Job) -> u32 {
    let now = wall(node);
    let found = audit_job(&node.store, job.id, now - 2 * HOUR, now, 100_000).await;
    let differences = found.unwrap().unwrap().differences;
    let unexplained = differences.iter().filter(|it| !it.is_explained());
    unexplained.map(|it| it.count).sum()
}

// covers: F1, H18
#[test]
fn after_an_hour_of_sleep_a_node_on_sqlite_goes_by_the_time_that_its_machine_woke_up_to() {
    on(Kind::Sqlite, async |db| {
        let node = node(db).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(10, |_| ()).await;
        for _ in 0..12 {
            second(&node).await;
        }
        let first = instants(&node, &job).await[0];
        node.clock.suspend(Duration::from_secs(3600));
        for _ in 0..3 {
            assert!(node.clock.now() < wall(&node) - 3_000_000, "held");
            second(&node).await;
        }
        assert_eq!(node.clock.now(), wall(&node));
        let told = alarms(&node).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("this machine was suspended for 3600 s"), "{told:?}");
        for _ in 0..12 {
            second(&node).await;
        }
        let (fired, ranges) = (instants(&node, &job).await, node.misfires(&job).await);
        let skipped: i64 = ranges.iter().map(|range| i64::from(range.count)).sum();
        let last = *fired.last().unwrap();
        assert!(skipped > 340 && last > first + HOUR, "{skipped} {last}");
        let all = fired.len() as i64 + skipped;
        assert_eq!(all, (last - first) / 10_000 + 1, "each instant once");
        assert_eq!(unexplained(&node, &job).await, 0);
        // Its executor had no chance to send a heartbeat meanwhile, and still counts as live.
        assert!(!executor.runs().is_empty());
        let runs = node.runs(&job).await;
        assert!(runs.iter().all(|run| run.reason != Some("no_executor".into())), "{runs:?}");
    });
}

// covers: F1
#[test]
fn a_clock_that_is_set_an_hour_ahead_is_followed_after_three_readings_with_an_alarm() {
    on(Kind::Sqlite, async |db| {
        let node = node(db).await;
        let job = node.every(10, |_| ()).await;
        second(&node).await;
        node.clock.set_wall(wall(&node) + HOUR);
        for _ in 0..3 {
            assert!(alarms(&node).await.is_empty());
            second(&node).await;
        }
        assert_eq!(node.clock.now(), wall(&node));
        let told = alarms(&node).await;
        let text = "this machine's clock has jumped by 3600 s, and is followed";
        assert_eq!(told, [text]);
        second(&node).await;
        let last = *instants(&node, &job).await.last().unwrap();
        assert!(last > wall(&node) - 10_000, "{last}");
        assert_eq!(unexplained(&node, &job).await, 0);
    });
}

// covers: F1, H15
#[test]
fn a_clock_that_is_set_back_repeats_nothing_and_makes_no_lease_longer() {
    on(Kind::Sqlite, async |db| {
        let node = node(db).await;
        let executor = RecordingExecutor::start().await;
        let job = node.every(10, |_| ()).await;
        node.register(&executor).await;
        for _ in 0..30 {
            second(&node).await;
        }
        let before = instants(&node, &job).await;
        node.clock.set_wall(wall(&node) - HOUR);
        for _ in 0..20 {
            second(&node).await;
        }
        assert_eq!(node.clock.now(), wall(&node));
        assert_eq!(instants(&node, &job).await, before, "nothing is repeated");
        let told = alarms(&node).await;
        assert!(told[0].contains("has jumped by -3600 s"), "{told:?}");
        assert!(told[0].contains("wait until the time before"), "{told:?}");
        // The executor was heard at the latest when the clock went back: its lease of 90 s counts from then.
        let seat = node.store.apps().executors().await.unwrap().remove(0);
        assert!(seat.seen_at <= node.clock.now(), "{seat:?}");
        assert!(seat.expires_at <= node.clock.now() + 90_000, "{seat:?}");
        assert_eq!(unexplained(&node, &job).await, 0);
        // An hour later the schedule goes on behind what is recorded.
        node.clock.advance(Duration::from_millis(HOUR as u64));
        node.register(&executor).await;
        for _ in 0..12 {
            second(&node).await;
        }
        let after = instants(&node, &job).await;
        assert!(after.len() > before.len());
        assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "{after:?}");
    });
}

// covers: F1, H16
#[test]
fn a_single_wrong_reading_moves_nothing_and_a_clock_that_jumps_about_is_alarmed() {
    on(Kind::Sqlite, async |db| {
        let node = node(db).await;
        second(&node).await;
        let right = wall(&node);
        node.clock.set_wall(right + HOUR);
        second(&node).await;
        node.clock.set_wall(right + 1_000);
        second(&node).await;
        assert!((node.clock.now() - right).abs() <= 2_000);
        assert!(alarms(&node).await.is_empty());
        for jumps in 1..=14 {
            node.clock.set_wall(right + jumps * HOUR);
            second(&node).await;
        }
        assert!((node.clock.now() - right).abs() <= 20_000, "none of them");
        let told = alarms(&node).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("jumps again and again"), "{told:?}");
        assert!(node.engine.shards_held().is_empty(), "it works nothing");
    });
}
