//! One task for each shard that a node holds: it begins when the shard is taken and ends when it is lost.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::ManualClock;
use carillon_testkit::wait_for;
use sea_orm::ConnectionTrait as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::node::{Node, START};
use crate::conformance::fixture::actor;
use crate::repository::sources::files;
use crate::services::{Kind, TestDatabase, on};

/// A node whose shards the test looks after, and whose scans run by themselves.
struct Running {
    node: Node,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Running {
    async fn start(db: &TestDatabase) -> Self {
        let mut config = db.config();
        config.shards = Some(6);
        // Ahead of the server's own clock, by which leases end.
        let clock = Arc::new(ManualClock::new(START + 2_400_000_000_000));
        let node = Node::on(config, clock).await;
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let scans = node.services.scanners.clone();
        tokio::spawn(scans.run(tasks.clone(), stop.clone(), CancellationToken::new()));
        Self { node, tasks, stop }
    }

    async fn has(&self, tasks: usize) {
        wait_for("as many tasks as shards", async || self.tasks.len() == tasks).await;
        assert_eq!(self.node.engine.shards_held().len(), tasks);
    }
}

async fn seconds(count: usize, nodes: &[&Running]) {
    for _ in 0..count {
        for running in nodes {
            running.node.clock.advance(Duration::from_secs(1));
            running.node.renew_leases().await;
        }
    }
}

// covers: 003-4
#[test]
fn a_node_has_as_many_scanning_tasks_as_shards() {
    on(Kind::Postgres, async |db| {
        let a = Running::start(db).await;
        a.has(0).await;
        seconds(1, &[&a]).await;
        a.has(6).await;
        // Half of them are handed to a peer, and come back when it leaves.
        let b = Running::start(db).await;
        seconds(5, &[&a, &b]).await;
        a.has(3).await;
        b.has(3).await;
        b.node.services.coordinator.release_all().await;
        b.node.engine.close();
        b.has(0).await;
        seconds(2, &[&a]).await;
        a.has(6).await;
        // The number of shards changes while the node runs.
        let now = START + 2_400_000_100_000;
        a.node.store.leases().set_shards(9, now, &actor()).await.unwrap();
        seconds(3, &[&a]).await;
        a.has(9).await;
        a.stop.cancel();
        wait_for("they end", async || a.tasks.is_empty()).await;
    });
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Connections that the database's pools may have opened meanwhile: each has a thread on SQLite.
const POOLS: usize = 8;
const ALONE: &str = "CARILLON_TEST_ALONE";

/// Other schedulers have a sleeping thread for each of them.
// covers: 000-7
#[test]
fn a_hundred_thousand_delays_are_entries_and_no_threads() {
    // In a process of its own, since other tests start threads too.
    if std::env::var_os(ALONE).is_none() {
        let name = "flow::tasks::a_hundred_thousand_delays_are_entries_and_no_threads";
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let output = command.args([name, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    on(Kind::Sqlite, async |db| {
        let node = Node::with_shards(db, 1).await;
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let job = node.job(|_| ()).await;
        node.renew_leases().await;
        let many = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
             INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
             SELECT i + 1000000, {}, 1, 0, 2, i, 0, 1, 1, {START}, {START} + 4000 + i % 1000, 0, 0, 0 FROM n",
            job.id
        );
        raw.execute_unprepared(&many).await.unwrap();
        let before = threads();
        node.services.scanners.all()[0].step().await;
        node.dispatch().await;
        assert!(node.metrics().contains("carillon_ring_entries 100000"));
        assert!(threads() <= before + POOLS, "{before} threads, then {}", threads());
    });
}

/// The services that own them are started once, as below.
// covers: 002-15
#[test]
fn one_ring_and_one_wheel_of_timers_are_made() {
    for (what, owner) in [
        ("DelayQueue::new(", "engine/src/runtime/timers.rs"),
        ("Timers::new(", "engine/src/recover/lease_ends.rs"),
        (" Mutex::new(Ring::new(", "engine/src/plan/due_queue.rs"),
    ] {
        let product = files("admin").into_iter().filter(|(path, _)| path.contains("src/") && path.ends_with(".rs"));
        let count = |text: &str| text.split("#[cfg(test)]").next().unwrap_or_default().matches(what).count();
        let made: Vec<(String, usize)> =
            product.map(|(path, text)| (path, count(&text))).filter(|(_, count)| *count > 0).collect();
        assert_eq!(made, [(owner.to_owned(), 1)], "{what}");
    }
}

// covers: 002-15
#[test]
fn one_process_has_one_ring_and_one_loop_that_empties_it() {
    on(Kind::Sqlite, async |db| {
        let node = Node::with_shards(db, 4).await;
        node.every(1, |_| ()).await;
        node.renew_leases().await;
        let (tasks, stop, fatal) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let services = &node.services;
        services.run_taking(&tasks, &stop, &fatal);
        services.run_scanners(&tasks, &stop, &fatal);
        services.run_sending(&tasks, &stop, &fatal);
        let list = &node.engine.cx.tasks;
        let count = |name: &str| list.all().iter().filter(|task| task.name == name).count();
        wait_for("each shard has a scan", async || count("scan") == 4).await;
        assert_eq!(
            (count("dispatch"), count("lease ends")),
            (1, 1),
            "one loop for the ring, and one for the wheel of timers"
        );
        let ring = &services.dispatcher.queue;
        assert!(Arc::ptr_eq(ring, &services.unmarker.queue) && Arc::ptr_eq(ring, &services.scanners.queue));
        assert!(services.scanners.all().iter().all(|scan| Arc::ptr_eq(ring, scan.queue())), "one for all shards");
        stop.cancel();
        tasks.close();
        tasks.wait().await;
        assert!(list.all().is_empty());
    });
}
