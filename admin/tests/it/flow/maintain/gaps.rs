//! The gap audit: what was lost or made up is found, and what an edit, a pa
use carillon_engine::runtime::Service as _;
use carillon_inspect::audit::audit_deleted_job;
use carillon_inspect::audit::audit_job;
use carillon_inspect::audit::{GapKind, GapReason};
use carillon_scheduler::{AlarmKind, Clock as _, JobDraft, Millis, MisfirePolicy, ScheduleDraft};
use carillon_store::Job;
use carillon_store::alarm::alarms::AlarmFilter;
use sea_orm::ConnectionTrait as _;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

async fn node(db: &TestDatabase) -> Node {
    Node::with_shards(db, 2).await
}

async fn sql(db: &TestDatabase, text: &str) {
    let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
    database.execute_unprepared(text).await.unwrap();
    database.close().await.unwrap();
}

async fn advance_seconds(node: &Node, seconds: u64) {
    for _ in 0..seconds {
        node.advance(1000).await;
    }
}

/// What is found since the start: how many, what, why, from which second.
async fn differences(node: &Node, job: &Job) -> Vec<(u32, GapKind, GapReason, i64)> {
    let now = node.clock.now();
    let look = audit_job(&node.store, job.id, START - 1000, now, 100_000).await.unwrap().unwrap();
    assert_eq!(look.reached, now);
    let second = |at: Millis| (at - START) / 1000;
    look.differences.iter().map(|it| (it.count, it.kind, it.reason, second(it.from))).collect()
}

/// Until there is nothing more to look at.
async fn watch(node: &Node) {
    for _ in 0..20 {
        if node.services.gap_auditor.step().await.next.as_secs() >= 60 {
            return;
        }
    }
    panic!("it never comes to an end");
}

/// What two counters say: records that differ, and instants that have none.
fn counted(node: &Node) -> [u64; 2] {
    let metrics = node.metrics();
    ["carillon_gaps_total ", "carillon_fires_missed_total "].map(|name| {
        let value = metrics.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap().parse().unwrap()
    })
}

#[test]
fn a_gap_is_one_alarm_also_where_another_node_finds_it_again() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let node = node(db).await;
        let job = node.every(1, |_| {}).await;
        advance_seconds(&node, 30).await;
        for lost in [8, 9] {
            sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no = {}", job.id, START + lost * 1000)).await;
        }
        advance_seconds(&node, 3).await;
        watch(&node).await;
        let second = Node::restarted(&node, node.config.clone(), node.clock.now() + 1_000).await;
        second.round().await;
        watch(&second).await;
        assert_eq!(counted(&second), [2, 2], "it has looked at the same span");
        let filter = AlarmFilter { kinds: vec![AlarmKind::Gap], limit: 10, ..AlarmFilter::default() };
        let alarms = second.store.alarms().list(&filter).await.unwrap().items;
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        assert_eq!(alarms[0].alarm.job_id, Some(job.id));
        assert!(alarms[0].alarm.text.starts_with("2 instants without a record from 20"), "{alarms:?}");
    });
}

databases! {
    // covers: 001-41, 000-16
    async fn a_row_that_was_deleted_by_hand_is_found_in_one_cycle(db: &TestDatabase) {
        let node = node(db).await;
        let job = node.every(1, |_| {}).await;
        let other = node.every(2, |_| {}).await;
        advance_seconds(&node, 20).await;
        watch(&node).await;
        assert_eq!(counted(&node), [0, 0]);
        advance_seconds(&node, 10).await;
        assert_eq!(differences(&node, &job).await, []);
        for lost in [8, 9] {
            sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no = {}", job.id, START + lost * 1000)).await;
        }
        advance_seconds(&node, 3).await;
        watch(&node).await;
        assert_eq!(counted(&node), [2, 2]);
        assert_eq!(differences(&node, &job).await, [(2, GapKind::Missing, GapReason::Unexplained, 8)]);
        assert_eq!(differences(&node, &other).await, []);
        watch(&node).await;
        assert_eq!(counted(&node), [2, 2], "each is told once");
    }

    async fn what_is_no_instant_and_what_is_recorded_twice_is_found(db: &TestDatabase) {
        let node = node(db).await;
        let job = node.every(2, |_| {}).await;
        advance_seconds(&node, 12).await;
        let at = |second: i64| START + second * 1000;
        sql(db, &format!("UPDATE run SET fire_no = {} WHERE job_id = {} AND fire_no = {}", at(5), job.id, at(4))).await;
        let (id, from) = (job.id, at(8));
        sql(db, &format!("INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES ({id}, {from}, {from}, 1, 'skip', 'misfire', 1)")).await;
        assert_eq!(
            differences(&node, &job).await,
            [
                (1, GapKind::Missing, GapReason::Unexplained, 4),
                (1, GapKind::Extra, GapReason::Unexplained, 5),
                (1, GapKind::Twice, GapReason::Unexplained, 8),
            ]
        );
        advance_seconds(&node, 15).await;
        watch(&node).await;
        assert_eq!(counted(&node), [3, 1], "one of the three is missing");
    }

    async fn edits_pauses_and_stalls_are_explained(db: &TestDatabase) {
        let node = node(db).await;
        let job = node.every(3, |draft| draft.misfire = MisfirePolicy::Skip).await;
        advance_seconds(&node, 10).await;
        // Another rate, which counts from now, and another handler.
        let draft = JobDraft { schedule: ScheduleDraft::fixed_rate(2), ..job.draft.clone() };
        let job = node.edit(&job, draft).await;
        advance_seconds(&node, 5).await;
        let job = node.edit(&job, JobDraft { handler: "other".into(), ..job.draft.clone() }).await;
        advance_seconds(&node, 4).await;
        assert_eq!(differences(&node, &job).await, []);
        // The node does nothing for three minutes; then it goes on.
        node.clock.advance(std::time::Duration::from_secs(180));
        assert_eq!(differences(&node, &job).await[0].2, GapReason::NotPlanned);
        advance_seconds(&node, 3).await;
        assert_eq!(differences(&node, &job).await, []);
        assert!(!node.misfires(&job).await.is_empty());
        let disable = async |enabled| {
            let now = node.clock.now();
            let job = node.store.jobs().set_enabled(job.id, enabled, now, &actor()).await.unwrap();
            node.engine.job_changed(job.shard);
        };
        disable(false).await;
        advance_seconds(&node, 6).await;
        disable(true).await;
        advance_seconds(&node, 6).await;
        let found = differences(&node, &job).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].1, found[0].2), (GapKind::Missing, GapReason::Disabled));
        assert!(found[0].0 <= 2, "the others were recorded ahead, and cancelled: {found:?}");
        // One that is lost in an earlier era is found by the definition of that time.
        sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no = {}", job.id, START + 6_000)).await;
        assert_eq!(differences(&node, &job).await[0], (1, GapKind::Missing, GapReason::Unexplained, 6));
        // Without the line of an edit nothing is claimed to be known of the time before it.
        sql(db, &format!("DELETE FROM audit WHERE object_id = {} AND action = 'update'", job.id)).await;
        let found = differences(&node, &job).await;
        assert_eq!((found[0].1, found[0].2), (GapKind::Unlooked, GapReason::Unknown), "{found:?}");
        assert!(found.iter().all(|it| it.2 != GapReason::Unexplained), "{found:?}");
    }

    // covers: 001-41
    async fn a_fixed_delay_that_stops_for_long_is_found(db: &TestDatabase) {
        let node = node(db).await;
        let job = node.job(|draft| draft.schedule = ScheduleDraft::fixed_delay(10)).await;
        // Without an executor each fire fails a second after it was due.
        advance_seconds(&node, 200).await;
        assert_eq!(differences(&node, &job).await, []);
        let runs = node.runs(&job).await;
        assert!(runs.len() > 15, "{runs:?}");
        let second = |at: Millis| (at - START) / 1000;
        let gone = &runs[5..12];
        let (from, to) = (gone[0].fire_no, gone[6].fire_no);
        sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no >= {from} AND fire_no <= {to}", job.id)).await;
        assert_eq!(differences(&node, &job).await, [(1, GapKind::Missing, GapReason::Unexplained, second(from))]);
        // A job that is disabled, and enabled later, starts from the time at which it was enabled.
        for enabled in [false, true] {
            let now = node.clock.now();
            node.store.jobs().set_enabled(job.id, enabled, now, &actor()).await.unwrap();
            advance_seconds(&node, 150).await;
        }
        assert_eq!(differences(&node, &job).await.len(), 1);
        // The last run of the job has ended, and its next instant is not set.
        while node.store.jobs().get(job.id).await.unwrap().unwrap().next_fire_at.is_none() {
            advance_seconds(&node, 1).await;
        }
        sql(db, &format!("DELETE FROM job_clock WHERE job_id = {}", job.id)).await;
        node.clock.advance(std::time::Duration::from_secs(100));
        assert_eq!(differences(&node, &job).await.len(), 2);
    }

    // covers: 001-41
    async fn a_deleted_job_is_looked_at_up_to_its_end(db: &TestDatabase) {
        let node = node(db).await;
        let job = node.every(2, |_| {}).await;
        advance_seconds(&node, 9).await;
        let draft = JobDraft { schedule: ScheduleDraft::fixed_rate(3), ..job.draft.clone() };
        let job = node.edit(&job, draft).await;
        advance_seconds(&node, 28).await;
        let deleted_at = node.clock.now();
        node.store.jobs().delete(job.id, deleted_at, &actor()).await.unwrap();
        advance_seconds(&node, 10).await;
        let found = async || {
            let deleted = node.store.jobs().deleted(START - 1000, 0, 10).await.unwrap();
            assert_eq!((deleted.len(), deleted[0].job_id, deleted[0].name.as_str()), (1, job.id, "job"));
            let look = audit_deleted_job(&node.store, &deleted[0], START - 1000, node.clock.now(), 1000).await.unwrap();
            assert_eq!((look.reached, look.deleted_at), (deleted_at, Some(deleted_at)));
            look.differences.iter().map(|it| (it.count, it.kind, it.reason, (it.from - START) / 1000)).collect::<Vec<_>>()
        };
        assert_eq!(found().await, []);
        for lost in [4, 33] {
            sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no = {}", job.id, START + lost * 1000)).await;
        }
        let lost = |second| (1, GapKind::Missing, GapReason::Unexplained, second);
        assert_eq!(found().await, [lost(4), lost(33)], "each by the definition of its time");
    }

    async fn a_limit_of_fires_and_a_fixed_delay_lack_nothing(db: &TestDatabase) {
        let node = node(db).await;
        let mut schedule = ScheduleDraft::fixed_rate(2);
        schedule.max_fires = Some(3);
        let limited = node.job(|draft| draft.schedule = schedule).await;
        let delay = node.job(|draft| draft.schedule = ScheduleDraft::fixed_delay(2)).await;
        advance_seconds(&node, 12).await;
        let found = differences(&node, &limited).await;
        assert_eq!(found, [(3, GapKind::Missing, GapReason::UsedUp, 8)]);
        assert_eq!(differences(&node, &delay).await, []);
        watch(&node).await;
        assert_eq!(counted(&node), [0, 0]);
    }

    // covers: G2
    async fn the_last_fires_of_a_schedule_are_looked_at_too(db: &TestDatabase) {
        let node = node(db).await;
        let mut schedule = ScheduleDraft::fixed_rate(2);
        schedule.max_fires = Some(3);
        let limited = node.job(|draft| draft.schedule = schedule.clone()).await;
        let whole = node.job(|draft| draft.schedule = schedule).await;
        let once = node.job(|draft| draft.schedule = ScheduleDraft::once(START + 5_000)).await;
        node.job(|draft| draft.schedule = ScheduleDraft::once(START + 6_000)).await;
        node.job(|draft| draft.schedule = ScheduleDraft::none()).await;
        advance_seconds(&node, 30).await;
        for (job, lost) in [(&limited, 6), (&once, 5)] {
            sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no = {}", job.id, START + lost * 1000)).await;
        }
        watch(&node).await;
        assert_eq!(counted(&node), [2, 2]);
        assert_eq!(differences(&node, &limited).await[0], (1, GapKind::Missing, GapReason::Unexplained, 6));
        assert_eq!(differences(&node, &whole).await.iter().map(|it| it.2).collect::<Vec<_>>(), [GapReason::UsedUp]);
        advance_seconds(&node, 60).await;
        watch(&node).await;
        assert_eq!(counted(&node), [2, 2], "each is told once");
    }

    // covers: F11
    async fn the_audit_keeps_no_definition_of_an_idle_job(db: &TestDatabase) {
        let node = node(db).await;
        node.create_jobs(300, |draft| draft.schedule = ScheduleDraft::cron("0 0 0 1 1 ?", "UTC")).await;
        advance_seconds(&node, 3).await;
        watch(&node).await;
        assert!(node.metrics().contains("carillon_job_cache_bytes 0"), "{}", node.metrics());
    }

    async fn a_lost_run_of_a_job_that_fires_seldom_is_found_by_the_walk_and_told_once(db: &TestDatabase) {
        let node = node(db).await;
        let job = node.every(600, |_| {}).await;
        for _ in 0..130 {
            node.advance(10_000).await;
        }
        let fire = node.runs(&job).await[0].fire_no;
        sql(db, &format!("DELETE FROM run WHERE job_id = {} AND fire_no = {fire}", job.id)).await;
        watch(&node).await;
        assert_eq!(counted(&node), [1, 1]);
        for _ in 0..12 {
            node.advance(10_000).await;
        }
        watch(&node).await;
        assert_eq!(counted(&node), [1, 1], "each is told once");
    }
}
