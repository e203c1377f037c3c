//! A job that cannot be planned.

use carillon_store::run::claim::DueJob;

use crate::conformance::fixture::{Fixture, NOW, actor, after};
use crate::conformance::hot::rows::due;

databases! {
    // covers: 003-20, 003-21
    async fn a_job_that_cannot_be_planned_is_paused_and_goes_on_where_it_stopped(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let jobs = fixture.of_one_shard(2).await;
        let (job, shard) = (&jobs[0], jobs[0].shard);
        let store = &fixture.store;
        assert!(store.jobs().pause_unplannable(shard, &due(job), &"длинно ".repeat(100), NOW).await.unwrap().is_some());
        let paused = store.jobs().get(job.id).await.unwrap().unwrap();
        assert!(!paused.draft.enabled && paused.next_fire_at.is_none() && paused.revision == 2);
        assert_eq!(paused.paused_reason.as_ref().map(|reason| reason.chars().count()), Some(500));
        assert_eq!(fixture.cursors().await, [(jobs[1].id, after(1))], "the other one goes on");
        assert_eq!(fixture.count("alarm", &format!("kind = 'paused' AND job_id = {} AND run_id IS NULL", job.id)).await, 1);
        assert_eq!(fixture.count("audit", "action = 'pause' AND actor = 'engine'").await, 1);
        // Another node had the same idea.
        assert!(store.jobs().pause_unplannable(shard, &due(job), "again", NOW).await.unwrap().is_none());
        assert_eq!(fixture.count("alarm", "1 = 1").await, 1);
        let back = store.jobs().set_enabled(job.id, true, after(60), &actor()).await.unwrap();
        assert_eq!((back.next_fire_at, back.paused_reason), (Some(after(1)), None));
    }

    // covers: 6.7
    async fn a_pause_that_was_decided_on_an_old_cursor_does_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let store = &fixture.store;
        // Another holder could plan it and has moved the cursor.
        fixture.set_cursor(&job, after(9)).await;
        assert!(store.jobs().pause_unplannable(job.shard, &due(&job), "why", NOW).await.unwrap().is_none());
        // It was edited.
        let edited = DueJob { next_fire_at: after(9), revision: 0, ..due(&job) };
        assert!(store.jobs().pause_unplannable(job.shard, &edited, "why", NOW).await.unwrap().is_none());
        let kept = store.jobs().get(job.id).await.unwrap().unwrap();
        assert!(kept.draft.enabled && kept.revision == 1 && kept.next_fire_at == Some(after(9)));
        assert_eq!(fixture.count("alarm", "1 = 1").await + fixture.count("audit", "action = 'pause'").await, 0);
    }

    async fn a_clock_row_without_its_job_is_taken_away(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        fixture.sql(&format!("INSERT INTO job_clock (shard, next_fire_at, job_id, revision) VALUES (1, {}, 999, 1)", after(1))).await;
        let orphan = DueJob { job_id: 999, next_fire_at: after(1), revision: 1 };
        assert!(fixture.store.jobs().pause_unplannable(1, &orphan, "the job's row is missing", NOW).await.unwrap().is_none());
        assert_eq!(fixture.cursors().await, [(job.id, after(1))]);
    }
}
