//! Runs that wait for too long, and alarms that wait for somebody.

use carillon_scheduler::AlarmKind;
use carillon_scheduler::RunState::{Claimed, Failed, Lost, Running, Unknown};
use carillon_store::alarm::alarms::{Alarm, AlarmFilter};

use super::fixture::{Fixture, NOW, actor, after};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, success};

async fn raise(fixture: &Fixture, kind: AlarmKind, job_id: i64, run_id: Option<i64>, second: i64) {
    let alarm = Alarm { kind, job_id: Some(job_id), run_id, text: String::new() };
    let raised = fixture.store.alarms().raise_alone(alarm, after(second)).await.unwrap();
    assert_eq!(raised.kind, kind);
}

/// Second and level of the open ones, oldest first.
async fn open(fixture: &Fixture) -> Vec<(i64, i16)> {
    let filter = AlarmFilter { open: Some(true), limit: 100, ..AlarmFilter::default() };
    let page = fixture.store.alarms().list(&filter).await.unwrap();
    page.items.iter().rev().map(|row| ((row.created_at - after(0)) / 1000, row.level)).collect()
}

databases! {
    // covers: 001-38
    async fn what_waits_longer_than_its_job_allows_is_flagged_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed, Claimed, Running, Claimed, Claimed, Claimed]).await;
        fixture.sql(&format!("UPDATE run SET reason = 'overlap' WHERE id = {}", ids[3])).await;
        fixture.sql(&format!("UPDATE run SET epoch = 0 WHERE id = {}", ids[4])).await;
        let flag = async |now: i64| {
            let late = fixture.store.runs().late(job.shard, 1, 30_000, i64::MIN, now, &[]).await.unwrap();
            let ids: Vec<i64> = late.iter().map(|run| run.run_id).collect();
            fixture.store.runs().flag_runs(&ids, now).await.unwrap()
        };
        assert_eq!(flag(NOW + 29_999).await.runs, 0);
        let flagged = flag(NOW + 31_000).await;
        assert_eq!((flagged.runs, flagged.alarms.len()), (2, 1));
        assert_eq!(flagged.alarms[0].run_id, Some(ids[0]));
        assert_eq!(flagged.alarms[0].text, format!("run {} was due 31 s ago and has not been sent, and 1 more of its job", ids[0]));
        assert_eq!(fixture.count("run", &format!("flagged_at = {}", NOW + 31_000)).await, 2);
        // What waits for an earlier run, or for its adoption, is not meant; and the job's alarm is still open.
        let flagged = flag(NOW + 60_000).await;
        assert_eq!((flagged.runs, flagged.alarms.len()), (1, 0));
        assert_eq!(flag(NOW + 90_000).await.runs, 0);
        fixture.sql(&format!("UPDATE run SET epoch = 1 WHERE id = {}", ids[4])).await;
        fixture.sql("UPDATE job SET flag_after_seconds = 86400").await;
        assert_eq!(flag(NOW + 90_000).await.runs, 0, "as the job says");
        fixture.sql("DELETE FROM job").await;
        assert_eq!(flag(NOW + 90_000).await.runs, 1, "also without a job");
    }

    // covers: G14
    async fn a_thousand_runs_of_a_paused_app_hide_no_other(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let other = fixture.store.apps().create("other", "Other", NOW, &actor()).await.unwrap();
        fixture.runs_in(&jobs[0], &[Claimed; 1_000]).await;
        let waits = fixture.runs_in(&jobs[1], &[Claimed]).await;
        fixture.sql(&format!("UPDATE run SET app_id = {}, due_at = {} WHERE job_id = {}", other.id, NOW + 1_000_000, jobs[1].id)).await;
        let late = async |paused: &[i64]| {
            let late = fixture.store.runs().late(jobs[0].shard, 1, 30_000, i64::MIN, NOW + 9_000_000, paused).await.unwrap();
            late.into_iter().map(|run| run.run_id).collect::<Vec<_>>()
        };
        assert_eq!(late(&[]).await.len(), 1_000, "as many as are read in one look");
        assert_eq!(late(&[fixture.app.id]).await, waits);
        assert_eq!(late(&[fixture.app.id, other.id]).await, [0_i64; 0]);
    }

    async fn runs_are_flagged_a_page_at_a_time_and_each_job_is_told_of_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let mut ids = fixture.runs_in(&jobs[0], &[Claimed; 70]).await;
        ids.extend(fixture.runs_in(&jobs[1], &[Claimed; 70]).await);
        ids.reverse();
        let late = fixture.store.runs().late(jobs[0].shard, 1, 30_000, i64::MIN, NOW + 40_000, &[]).await.unwrap();
        assert_eq!(late.len(), 2 * 11, "due in the first ten seconds");
        assert_eq!((late[0].run_id, late[0].late_at), (ids[139], NOW + 30_000));
        let (page, rest) = ids.split_at(100);
        let flagged = fixture.store.runs().flag_runs(page, after(40)).await.unwrap();
        let told: Vec<_> = flagged.alarms.iter().map(|alarm| (alarm.job_id, alarm.run_id)).collect();
        assert_eq!(flagged.runs, 100);
        assert_eq!(told, [(Some(jobs[0].id), Some(page[99])), (Some(jobs[1].id), Some(ids[69]))]);
        let flagged = fixture.store.runs().flag_runs(rest, after(41)).await.unwrap();
        assert_eq!((flagged.runs, flagged.alarms), (40, vec![]));
        assert_eq!(fixture.store.runs().flag_runs(&ids, after(42)).await.unwrap().runs, 0);
        assert_eq!(fixture.count("alarm", "kind = 'stuck' AND open_at > 0").await, 2);
    }

    // covers: 001-40
    async fn an_alarm_of_a_job_is_open_while_one_of_its_flagged_runs_waits(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Claimed; 3]).await;
        let flagged = fixture.store.runs().flag_runs(&ids[..2], after(40)).await.unwrap();
        assert_eq!(flagged.alarms[0].run_id, Some(ids[0]));
        let close = async |second| fixture.store.alarms().close_resolved(after(second)).await.unwrap();
        fixture.sql(&format!("UPDATE run SET state = 1 WHERE id = {}", ids[0])).await;
        assert_eq!(close(41).await, 0, "the other one still waits");
        assert_eq!(open(&fixture).await, [(40, 0)]);
        fixture.sql(&format!("UPDATE run SET state = 1 WHERE id = {}", ids[1])).await;
        assert_eq!(close(42).await, 1, "the third is not late");
        assert_eq!(open(&fixture).await, []);
    }

    // covers: 001-40
    async fn alarms_are_open_until_what_they_tell_of_is_over(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let ids = fixture.runs_in(&job, &[Unknown, Lost, Claimed, Failed]).await;
        raise(&fixture, AlarmKind::Unknown, job.id, Some(ids[0]), 0).await;
        raise(&fixture, AlarmKind::Lost, job.id, Some(ids[1]), 1).await;
        raise(&fixture, AlarmKind::Stuck, job.id, Some(ids[2]), 2).await;
        raise(&fixture, AlarmKind::Paused, job.id, None, 3).await;
        // These alarms are never open: no operator has to act on them.
        raise(&fixture, AlarmKind::Failed, job.id, Some(ids[3]), 4).await;
        raise(&fixture, AlarmKind::Stuck, job.id, None, 5).await;
        fixture.sql("UPDATE job SET paused_reason = 'x'").await;
        let close = async |second| fixture.store.alarms().close_resolved(after(second)).await.unwrap();
        assert_eq!(close(6).await, 0);
        assert_eq!(open(&fixture).await, [(0, 0), (1, 0), (2, 0), (3, 0)]);
        let escalate = async |since, now| fixture.store.alarms().escalate(after(since), after(now)).await.unwrap();
        assert_eq!(escalate(-1, 10).await, []);
        let told = escalate(2, 10).await;
        assert_eq!((told.len(), told[0].escalated_at), (3, Some(after(10))));
        assert_eq!(escalate(2, 11).await, [], "once");
        assert_eq!(open(&fixture).await, [(0, 1), (1, 1), (2, 1), (3, 0)]);
        let found = async |escalated| {
            let filter = AlarmFilter { escalated: Some(escalated), limit: 100, ..AlarmFilter::default() };
            fixture.store.alarms().list(&filter).await.unwrap().items.len()
        };
        assert_eq!((found(true).await, found(false).await), (3, 3));
        // A result closes its run's alarm with the same commit.
        let settled = fixture.store.runs().settle(&[success(ids[1])], &FOLLOW_UP).await.unwrap();
        assert_eq!(settled.changed.len(), 1);
        assert_eq!(open(&fixture).await, [(0, 1), (2, 1), (3, 0)]);
        fixture.sql(&format!("DELETE FROM run WHERE id = {}", ids[0])).await;
        fixture.sql(&format!("UPDATE run SET state = 1 WHERE id = {}", ids[2])).await;
        fixture.sql("UPDATE job SET paused_reason = NULL").await;
        assert_eq!(close(12).await, 3);
        assert_eq!(open(&fixture).await, []);
        assert_eq!(fixture.count("alarm", &format!("closed_at = {}", after(12))).await, 3);
    }
}
