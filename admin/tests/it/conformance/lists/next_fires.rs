//! The next fire of a job is the next one that happens, not the first one that is not planned yet.

use carillon_scheduler::RunState;
use carillon_store::JobFilter;

use crate::conformance::fixture::{Fixture, NOW, Row, SECOND, SHARDS, actor, after, each};

databases! {
    async fn a_claimed_run_that_is_not_yet_due_is_the_next_fire(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let late = fixture.create(&each("0 0 3 * * ?")).await;
        let claimed = [after(-1), after(0), after(2), after(4)];
        let job = fixture.every_second(&claimed, after(6)).await;
        let filter = JobFilter { limit: 10, ..JobFilter::default() };
        let mut jobs = fixture.store.jobs().list(&filter).await.unwrap().items;
        fixture.store.jobs().show_next_fires(&mut jobs, NOW).await.unwrap();
        let next: Vec<_> = jobs.iter().map(|job| (job.id, job.next_fire_at)).collect();
        assert_eq!(next, [(job.id, Some(after(2))), (late.id, late.next_fire_at)]);
        let all = fixture.store.jobs().next_fires(SHARDS, 10, NOW, &carillon_store::VisibleApps::All).await.unwrap();
        let all: Vec<_> = all.iter().map(|fire| (fire.job_id, fire.next_fire_at)).collect();
        assert_eq!(all, [(job.id, after(2)), (late.id, late.next_fire_at.unwrap())]);
        let one = fixture.store.jobs().next_fires(SHARDS, 1, NOW, &carillon_store::VisibleApps::All).await.unwrap();
        assert_eq!(one[0].next_fire_at, after(2));
    }

    async fn the_last_fire_of_a_job_is_shown_until_it_is_due(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(3)], after(4)).await;
        fixture.sql("DELETE FROM job_clock").await;
        let shown = async |now| {
            let mut jobs = vec![fixture.store.jobs().get(job.id).await.unwrap().unwrap()];
            fixture.store.jobs().show_next_fires(&mut jobs, now).await.unwrap();
            let listed = fixture.store.jobs().next_fires(SHARDS, 10, now, &carillon_store::VisibleApps::All).await.unwrap();
            assert_eq!(listed.first().map(|fire| fire.next_fire_at), jobs[0].next_fire_at);
            jobs[0].next_fire_at
        };
        assert_eq!(shown(NOW).await, Some(after(3)));
        assert_eq!(shown(after(3)).await, None);
    }

    async fn what_will_not_be_sent_is_no_next_fire(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(6)).await;
        // A retry, a run by hand, and one that was called off.
        fixture.run(&job, Row { fire_no: after(1), attempt: 2, ..Row::default() }).await;
        fixture.run(&job, Row { fire_no: after(2), cause: 1, ..Row::default() }).await;
        fixture.run(&job, Row { fire_no: after(3), state: RunState::Cancelled.code(), ..Row::default() }).await;
        let mut jobs = vec![fixture.store.jobs().get(job.id).await.unwrap().unwrap()];
        fixture.store.jobs().show_next_fires(&mut jobs, NOW).await.unwrap();
        assert_eq!(jobs[0].next_fire_at, Some(after(6)));
        let paused = fixture.store.jobs().set_enabled(job.id, false, SECOND, &actor()).await.unwrap();
        let mut jobs = vec![paused];
        fixture.store.jobs().show_next_fires(&mut jobs, SECOND).await.unwrap();
        assert_eq!(jobs[0].next_fire_at, None);
    }
}
