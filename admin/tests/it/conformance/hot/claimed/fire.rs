//! Fires without a schedule.

use carillon_store::Actor;
use std::collections::HashSet;

use carillon_scheduler::{Cause, RunState};
use carillon_store::run::trigger::{NewTrigger, TriggerResult};
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, actor};

fn fire(job_id: i64, key: Option<&str>) -> NewTrigger {
    NewTrigger {
        parts: None,
        job: job_id.into(),
        cause: Cause::Api,
        params: None,
        priority: None,
        address: None,
        idempotency_key: key.map(Into::into),
        traceparent: None,
        rerun_of: None,
        is_only_rerun: false,
    }
}

databases! {
    async fn a_fire_is_recorded_for_whoever_holds_its_shard(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let given = NewTrigger { params: Some("x".repeat(60_000)), address: Some("http://x:1/".into()), ..fire(job.id, None) };
        let fired = fixture.store.runs().insert_triggered(&given, NOW, &Actor::engine()).await.unwrap().unwrap();
        assert!(fired.found == TriggerResult::Made && fired.shard == job.shard);
        let row = fixture.row(fired.run_id).await;
        assert_eq!((row.state(), row.epoch, row.sends, row.owner), (RunState::Claimed, 0, 0, None));
        assert_eq!((row.cause, row.fire_no, row.part, row.parts, row.attempt), (2, row.id, 0, 1, 1));
        assert_eq!((row.scheduled_at, row.due_at, row.app_id, row.job_id), (NOW, NOW, job.app_id, job.id));
        assert_eq!(fixture.count("run_input", &format!("run_id = {} AND LENGTH(params) = 60000", row.id)).await, 1);
        // Without a key each call is a fire of its own.
        let again = fixture.store.runs().insert_triggered(&given, NOW, &Actor::engine()).await.unwrap().unwrap();
        assert!(again.found == TriggerResult::Made && again.run_id != fired.run_id);
        assert_eq!(fixture.store.runs().insert_triggered(&fire(job.id + 99, None), NOW, &Actor::engine()).await.unwrap(), None);
        assert_eq!(fixture.count("run", "1 = 1").await, 2);
    }

    async fn fifty_requests_with_one_key_are_one_fire(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let racing = (0..50).map(|_| {
            let (store, fire) = (fixture.store.clone(), fire(job.id, Some("order-4711")));
            tokio::spawn(async move { store.runs().insert_triggered(&fire, NOW, &Actor::engine()).await.unwrap().unwrap() })
        });
        let fired: Vec<_> = join_all(racing).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(fired.iter().filter(|fired| fired.found == TriggerResult::Made).count(), 1);
        assert_eq!(fired.iter().map(|fired| fired.run_id).collect::<HashSet<_>>().len(), 1);
        assert_eq!(fixture.count("run", "1 = 1").await, 1);
        assert_eq!(fixture.count("idempotency", "1 = 1").await, 1);
    }

    // covers: B1
    async fn of_two_people_who_run_again_what_failed_one_does(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let failed: Vec<i64> = (0..60).map(|n| 1_000 + n).collect();
        let rerun = |run: &i64, key: Option<&str>, is_only_rerun| NewTrigger { rerun_of: Some(*run), is_only_rerun, ..fire(job.id, key) };
        let racing = (0..4).map(|person| {
            let store = fixture.store.clone();
            let reruns: Vec<_> = failed.iter().map(|run| rerun(run, Some(&format!("{person} {run}")), true)).collect();
            tokio::spawn(async move { store.runs().insert_triggered_all(&reruns, NOW, &Actor::engine()).await.unwrap() })
        });
        let made: Vec<_> = join_all(racing).await.into_iter().flat_map(Result::unwrap).map(Option::unwrap).collect();
        assert_eq!(made.iter().filter(|it| it.found == TriggerResult::Made).count(), 60);
        assert_eq!(made.iter().filter(|it| it.found == TriggerResult::OtherRerun).count(), 180);
        assert_eq!(fixture.count("run", "1 = 1").await, 60);
        // A key of a request that made nothing is free.
        assert_eq!(fixture.count("idempotency", "1 = 1").await, 60);
        // A person who asks for it runs one again once more.
        let again = [rerun(&failed[0], None, false)];
        let again = fixture.store.runs().insert_triggered_all(&again, NOW, &Actor::engine()).await.unwrap();
        assert_eq!(again[0].unwrap().found, TriggerResult::Made);
    }

    // covers: 001-27
    async fn a_key_finds_its_run_whatever_became_of_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (job, other) = (fixture.ticking("one").await, fixture.ticking("two").await);
        let longest = "ключ".repeat(50);
        let first = fixture.store.runs().insert_triggered(&fire(job.id, Some(&longest)), NOW, &Actor::engine()).await.unwrap().unwrap();
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {}", first.run_id)).await;
        let again = fixture.store.runs().insert_triggered(&fire(job.id, Some(&longest)), NOW + 86_400_000, &Actor::engine()).await.unwrap().unwrap();
        assert_eq!((again.run_id, again.found), (first.run_id, TriggerResult::SameKey));
        // Keys are the job's own, and told apart to the letter.
        let elsewhere = fixture.store.runs().insert_triggered(&fire(other.id, Some(&longest)), NOW, &Actor::engine()).await.unwrap().unwrap();
        let upper = fixture.store.runs().insert_triggered(&fire(job.id, Some(&longest.to_uppercase())), NOW, &Actor::engine()).await.unwrap().unwrap();
        assert_eq!([elsewhere.found, upper.found], [TriggerResult::Made; 2]);
        assert_eq!(fixture.count("run", "1 = 1").await, 3);
    }

    // covers: I10
    async fn of_a_fire_and_a_deletion_at_once_no_run_is_left_behind(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for _ in 0..5 {
            let job = fixture.ticking("tick").await;
            let fires = (0..6).map(|_| {
                let (store, fire) = (fixture.store.clone(), fire(job.id, None));
                tokio::spawn(async move { store.runs().insert_triggered(&fire, NOW, &Actor::engine()).await.unwrap().map(|fired| fired.run_id) })
            });
            let store = fixture.store.clone();
            let deletion = tokio::spawn(async move { store.jobs().delete(job.id, NOW, &actor()).await.unwrap() });
            let fired: Vec<i64> = join_all(fires).await.into_iter().filter_map(Result::unwrap).collect();
            deletion.await.unwrap();
            for id in fired {
                assert_eq!(fixture.row(id).await.state(), RunState::Cancelled, "what was answered is recorded");
            }
        }
        assert_eq!(fixture.count("run", "state = 0").await, 0);
    }
}
