//! When a shard is scanned, how far ahead, and how much at once.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_admin::config::Config;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, JobDraft, ManualClock, Millis, RunState, ScheduleDraft};
use carillon_testkit::RecordingExecutor;
use futures_util::FutureExt as _;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

/// A node with one shard.
async fn alone(db: &TestDatabase, change: impl FnOnce(&mut Config)) -> Node {
    let mut config = db.config();
    config.shards = Some(1);
    config.access_token = "0123456789-of-this-test".into();
    change(&mut config);
    Node::on(config, Arc::new(ManualClock::new(START))).await
}

async fn beside(db: &TestDatabase) -> DatabaseConnection {
    sea_orm::Database::connect(db.direct_url()).await.unwrap()
}

/// A row of numbers.
async fn numbers<const N: usize>(db: &DatabaseConnection, text: &str) -> [i64; N] {
    let statement = Statement::from_string(db.get_database_backend(), text);
    let row = db.query_one_raw(statement).await.unwrap().unwrap();
    std::array::from_fn(|index| row.try_get_by_index(index).unwrap())
}

fn seconds(node: &[carillon_store::RunView]) -> Vec<Millis> {
    node.iter().map(|run| (run.scheduled_at - START) / 1_000).collect()
}

// covers: 003-5
#[test]
fn instants_are_recorded_as_far_ahead_as_is_set_and_half_as_far_at_least() {
    for ahead in [1, 5, 30] {
        on(Kind::Sqlite, async |db| {
            let node = alone(db, |it| it.engine.look_ahead = Duration::from_secs(ahead)).await;
            let job = node.every(1, |_| ()).await;
            node.renew_leases().await;
            let ahead = ahead as i64;
            let near = (ahead / 2).max(2).min(ahead);
            for passed in 0..ahead + 2 {
                node.renew_leases().await;
                node.scan().await;
                let recorded = seconds(&node.runs(&job).await);
                let expected: Vec<Millis> = (1..=recorded.len() as i64).collect();
                assert_eq!(recorded, expected, "{ahead} s");
                let until = recorded.len() as i64 - passed;
                assert!(until >= near && until <= ahead, "{ahead} s: {until} s after {passed} s");
                if passed == 0 {
                    assert_eq!(until, ahead, "the first claim");
                }
                node.clock.advance(Duration::from_secs(1));
            }
        });
    }
}

/// There: a page a second, so that the last of them would be a hundred seconds late.
// covers: 003-6
#[test]
fn a_scan_drains_the_shard_whatever_is_due() {
    const COUNT: usize = 20_000;
    on(Kind::Sqlite, async |db| {
        let node = alone(db, |_| ()).await;
        let at = START + 1_000;
        node.create_jobs(COUNT, |draft| draft.schedule = ScheduleDraft::once(at)).await;
        node.renew_leases().await;
        assert_eq!(node.scan().await.did.claimed, COUNT, "in one round, without a pause");
        let recorded = format!("SELECT COUNT(*), COUNT(DISTINCT job_id) FROM run WHERE due_at = {at}");
        assert_eq!(numbers(&beside(db).await, &recorded).await, [COUNT as i64; 2]);
    });
}

/// There: pages in the order of ids, so that jobs after the first page starved.
// covers: 6.1
#[test]
fn of_six_thousand_jobs_due_each_second_none_falls_behind() {
    const JOBS: i64 = 6_000;
    on(Kind::Sqlite, async |db| {
        let node = alone(db, |it| it.engine.look_ahead = Duration::from_secs(1)).await;
        node.create_jobs(JOBS as usize, |draft| draft.schedule = ScheduleDraft::fixed_rate(1)).await;
        node.renew_leases().await;
        let beside = beside(db).await;
        for passed in 1..=3 {
            assert_eq!(node.scan().await.did.claimed as i64, JOBS);
            let cursors = "SELECT COUNT(*), MIN(next_fire_at), MAX(next_fire_at) FROM job_clock";
            let next = START + (passed + 1) * 1_000;
            assert_eq!(numbers(&beside, cursors).await, [JOBS, next, next]);
            node.clock.advance(Duration::from_secs(1));
        }
    });
}

/// As above, with memory for so few that most must wait: each waits for all others, and for none twice.
// covers: 6.1
#[test]
fn what_found_no_room_comes_first() {
    const JOBS: i64 = 300;
    on(Kind::Sqlite, async |db| {
        let node = alone(db, |it| it.engine.ring_capacity = 100).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let jobs = node.create_jobs(JOBS as usize, |draft| draft.schedule = ScheduleDraft::fixed_rate(1)).await;
        node.renew_leases().await;
        node.clock.advance(Duration::from_secs(1));
        let beside = beside(db).await;
        let of_a_job = "SELECT COUNT(*) AS runs FROM run GROUP BY job_id";
        let counts = format!("SELECT MIN(runs), MAX(runs), COUNT(*) FROM ({of_a_job}) AS of_a_job");
        for round in 1..=6 {
            node.round().await;
            let [fewest, most, started] = numbers(&beside, &counts).await;
            assert!(most - fewest <= 1, "round {round}: {fewest} to {most}");
            assert!(most == 1 || started == JOBS, "round {round}: {started} of them");
        }
        assert_eq!(node.states(&jobs[299]).await[0], RunState::Running);
    });
}

/// There: the first scan waited up to five seconds for a round second.
// covers: 003-7
#[test]
fn the_first_fire_needs_no_run_up() {
    on(Kind::Sqlite, async |db| {
        let first = alone(db, |_| ()).await;
        let executor = RecordingExecutor::start().await;
        first.register(&executor).await;
        let job = first.every(1, |_| ()).await;
        // 300 ms before a second, as it happens.
        let next = Node::restarted(&first, first.config.clone(), START + 4_700).await;
        next.services.refresher.step().await;
        next.renew_leases().await;
        next.scan().await;
        let pause = next.dispatch().await.next;
        next.drain().await;
        assert_eq!(executor.runs().len(), 4, "what is overdue goes out in the very first round");
        assert_eq!(pause, Duration::from_millis(100), "and then it is waited for the mark of the next one");
        next.clock.set(START + 5_000);
        next.dispatch().await;
        next.drain().await;
        let fifth = &next.runs(&job).await[4];
        assert_eq!((fifth.due_at, fifth.sent_at), (START + 5_000, Some(START + 5_000)));
    });
}

// covers: 001-11
#[test]
fn a_job_that_is_enabled_100_ms_before_a_second_fires_at_it() {
    on(Kind::Sqlite, async |db| {
        let node = alone(db, |_| ()).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let every_second = |draft: &mut JobDraft| {
            draft.schedule = ScheduleDraft::cron("* * * * * ?", "UTC");
            draft.enabled = false;
        };
        let job = node.job(every_second).await;
        node.advance(9_900).await;
        assert!(node.runs(&job).await.is_empty());
        let job = node.store.jobs().set_enabled(job.id, true, node.clock.now(), &actor()).await.unwrap();
        node.engine.job_changed(job.shard);
        node.round().await;
        node.advance(100).await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(executor.runs()[0].json()["logDateTime"], START + 10_000);
    });
}

/// There: an idle shard was looked at every five seconds only.
// covers: 003-8
#[test]
fn a_job_on_an_idle_shard_is_planned_at_once() {
    on(Kind::Sqlite, async |db| {
        let token = random_secret();
        let node = alone(db, |it| it.api_token = Some(token.clone())).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        node.round().await;
        let idle = &node.services.scanners.all()[0];
        while idle.wake().unwrap().notified().now_or_never().is_some() {}
        assert_eq!(idle.step().await.next, Duration::from_secs(10), "until it is woken");
        let due = chrono_text(START + 2_000);
        let body = serde_json::json!({"app": "orders", "name": "soon", "handler": "handle",
            "schedule": {"kind": "once", "at": due}});
        let call = reqwest::Client::new().post(format!("{}/api/v1/jobs", node.url));
        let answer = call.bearer_auth(&token).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
        let woken = idle.wake().unwrap();
        assert!(woken.notified().now_or_never().is_some(), "it need not wait for its second");
        idle.step().await;
        let filter = carillon_store::RunFilter { limit: 10, ..Default::default() };
        let runs = node.store.runs().list(&filter).await.unwrap().items;
        assert_eq!((runs.len(), runs[0].state), (1, RunState::Claimed));
        node.advance(2_000).await;
        assert_eq!(executor.runs().len(), 1);
    });
}

#[test]
fn metrics_show_the_memory_of_the_definitions_that_are_cached() {
    on(Kind::Sqlite, async |db| {
        let token = random_secret();
        let node = alone(db, |it| it.api_token = Some(token.clone())).await;
        node.every(1, |_| {}).await;
        node.round().await;
        let call = node.http.get(format!("{}/metrics", node.url)).bearer_auth(&token);
        let text = call.send().await.unwrap().text().await.unwrap();
        let bytes = text.lines().find_map(|line| line.strip_prefix("carillon_job_cache_bytes "));
        assert!(bytes.is_some_and(|bytes| bytes.parse::<i64>().unwrap() > 0), "{text}");
    });
}

fn chrono_text(at: Millis) -> String {
    chrono::DateTime::from_timestamp_millis(at).unwrap().to_rfc3339()
}

/// No other node wakes the holder then: the holder scans each second, whatever the last scan found.
// covers: 003-8
#[test]
fn a_job_made_by_another_node_is_planned_within_a_second() {
    on(Kind::Postgres, async |db| {
        let at = START + 2_400_000_000_000;
        let node = async || {
            let mut config = db.config();
            config.access_token = "0123456789-of-this-test".into();
            Node::on(config, Arc::new(ManualClock::new(at))).await
        };
        let (holder, other) = (node().await, node().await);
        let executor = RecordingExecutor::start().await;
        holder.register(&executor).await;
        holder.round().await;
        assert_eq!(holder.engine.shards_held().len(), 8);
        let poller = &holder.services.scan_poller;
        let idle = poller.step().await;
        assert_eq!((idle.did, idle.next), (vec![], Duration::from_secs(1)));
        let once = |draft: &mut carillon_scheduler::JobDraft| {
            draft.schedule = ScheduleDraft::once(at + 2_000);
        };
        let job = other.job(once).await;
        assert_eq!(poller.step().await.did, [job.shard], "its scanner is woken");
        holder.advance(1_000).await;
        assert_eq!(holder.states(&job).await, [RunState::Claimed]);
        holder.advance(1_000).await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(holder.runs(&job).await[0].sent_at, Some(at + 2_000));
    });
}
