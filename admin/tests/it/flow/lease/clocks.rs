//! Clocks that are wrong, or jump: the database's counts, and a jump of it is believed only with a witness.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{AlarmKind, Clock as _, ManualClock};
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

const HOUR: i64 = 3_600_000;

/// A node that follows the database's clock; this machine's own agrees with it.
async fn node(db: &TestDatabase) -> Node {
    let mut config = db.config();
    config.shards = Some(2);
    config.access_token = "0123456789-of-this-test".into();
    let clock = Arc::new(ManualClock::following(START));
    let node = Node::on(config, clock).await;
    node.clock.set_wall(node.clock.now());
    node
}

/// The database's clock says that it is `by` ms later than this node thinks.
async fn heard(node: &Node, by: i64) {
    let (db_now, asked) = (node.clock.now() + by, node.clock.monotonic());
    node.services.clock_guard.observe(db_now, asked).await;
}

async fn alarms(node: &Node) -> Vec<String> {
    let filter = AlarmFilter { kinds: vec![AlarmKind::Clock], limit: 100, ..AlarmFilter::default() };
    let page = node.store.alarms().list(&filter).await.unwrap();
    page.items.into_iter().map(|row| row.alarm.text).collect()
}

async fn instants(node: &Node, job: &carillon_store::Job) -> Vec<i64> {
    node.runs(job).await.iter().map(|run| run.scheduled_at).collect()
}

// covers: H14
#[test]
fn a_node_with_a_wrong_clock_goes_by_the_databases_and_says_so() {
    on(Kind::Postgres, async |db| {
        let node = node(db).await;
        let database_now = node.store.leases().database_now().await.unwrap().unwrap();
        assert!((node.clock.now() - database_now).abs() < 60_000);
        heard(&node, 0).await;
        assert!(alarms(&node).await.is_empty());
        node.clock.set_wall(node.clock.now() + 24 * HOUR);
        heard(&node, 0).await;
        heard(&node, 0).await;
        let alarms = alarms(&node).await;
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        assert!(alarms[0].contains("clocks differ: this machine's is 86400 s ahead"), "{alarms:?}");
        node.round().await;
        assert_eq!(node.engine.shards_held().len(), 2, "it works all the same");
    });
}

// covers: 001-21
#[test]
fn a_clock_that_jitters_by_900_ms_misses_and_repeats_nothing() {
    on(Kind::Sqlite, async |db| {
        let clock = Arc::new(ManualClock::new(START));
        let node = Node::on(db.config(), clock).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(1, |_| ()).await;
        // A step of 0.5 s, and beside it up to 0.9 s to either side.
        for step in 0..60 {
            let jitter = [0, 900, -900, 350, -700, 800, -150][step % 7];
            node.clock.set(START + 500 * step as i64 + jitter);
            node.round().await;
        }
        node.clock.set(START + 31_000);
        node.round().await;
        let mut fired = instants(&node, &job).await;
        fired.sort_unstable();
        let first = fired[0];
        let ran: Vec<i64> = (0..).map(|n| first + 1_000 * n).take_while(|at| *at <= START + 31_000).collect();
        fired.retain(|at| *at <= START + 31_000);
        assert_eq!(fired, ran);
        assert!(first <= START + 1_000, "{first}");
        assert_eq!(executor.runs().len(), ran.len(), "each once");
    });
}

// covers: H15
#[test]
fn when_the_databases_clock_goes_back_nothing_repeats() {
    on(Kind::Postgres, async |db| {
        let node = node(db).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(10, |_| ()).await;
        node.round().await;
        for _ in 0..3 {
            node.advance(10_000).await;
        }
        let before = instants(&node, &job).await;
        node.clock.set_wall(node.clock.now() - HOUR);
        for samples in 1..=3 {
            assert!(alarms(&node).await.is_empty(), "{samples}");
            heard(&node, -HOUR).await;
        }
        assert_eq!(alarms(&node).await.len(), 1);
        for _ in 0..5 {
            node.advance(10_000).await;
        }
        assert_eq!(instants(&node, &job).await, before, "all of these are recorded");
        let sent = executor.runs().len();
        // Time catches up.
        node.clock.advance(Duration::from_millis(HOUR as u64 - 60_000));
        node.register(&executor).await;
        for _ in 0..4 {
            node.advance(10_000).await;
        }
        let after = instants(&node, &job).await;
        assert!(after.len() > before.len());
        assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "no instant twice");
        assert!(executor.runs().len() > sent);
    });
}

// covers: H16
#[test]
fn a_jump_that_no_other_clock_confirms_fires_nothing_and_ends_the_nodes_work() {
    on(Kind::Postgres, async |db| {
        let node = node(db).await;
        let job = node.every(10, |_| ()).await;
        node.round().await;
        let before = instants(&node, &job).await;
        heard(&node, HOUR).await;
        for _ in 0..4 {
            node.advance(1_000).await;
            heard(&node, HOUR).await;
        }
        assert_eq!(instants(&node, &job).await, before, "nothing of that hour");
        let told = alarms(&node).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("no other clock of node"), "{told:?}");
        // For the time of a lease.
        for _ in 0..8 {
            node.clock.advance(Duration::from_secs(1));
            heard(&node, HOUR).await;
            node.renew_leases().await;
        }
        assert!(node.engine.shards_held().is_empty());
        assert!(node.store.leases().live_nodes(0).await.unwrap().is_empty(), "others take its share");
        heard(&node, 0).await;
        node.round().await;
        assert_eq!(node.engine.shards_held().len(), 2, "the clock is as it was");
        assert_eq!(alarms(&node).await.len(), 1);
    });
}

// covers: H18
#[test]
fn after_a_long_sleep_leases_are_worth_nothing_and_all_that_is_overdue_is_dealt_with() {
    on(Kind::Postgres, async |db| {
        let node = node(db).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.every(10, |_| ()).await;
        node.round().await;
        assert_eq!(node.engine.shards_held().len(), 2);
        let recorded = instants(&node, &job).await.len();
        // The machine slept for an hour; the monotonic clock has not noticed it.
        node.clock.set_wall(node.clock.now() + HOUR);
        heard(&node, HOUR).await;
        assert!(node.engine.shards_held().is_empty(), "at once");
        heard(&node, HOUR).await;
        heard(&node, HOUR).await;
        node.register(&executor).await;
        node.round().await;
        node.advance(200).await;
        assert_eq!(node.engine.shards_held().len(), 2);
        let ranges = node.misfires(&job).await;
        let skipped: i64 = ranges.iter().map(|range| i64::from(range.count)).sum();
        let fired = instants(&node, &job).await;
        let all = fired.len() as i64 + skipped;
        let begun = ranges.iter().map(|range| range.from_at).chain(fired[..1].iter().copied());
        let (first, last) = (begun.min().unwrap(), *fired.last().unwrap());
        assert_eq!(all, (last - first) / 10_000 + 1, "each instant of the hour is a run or in a range");
        assert!(skipped > 340 && fired.len() > recorded, "{skipped} {}", fired.len());
        // Every overdue entry of before was drained, none waits for its second of the next minute.
        let now = node.clock.now();
        let runs = node.runs(&job).await;
        let waiting = runs.iter().filter(|run| run.state == carillon_scheduler::RunState::Claimed);
        assert!(waiting.clone().all(|run| run.due_at > now - 1_000), "{:?}", waiting.collect::<Vec<_>>());
    });
}
