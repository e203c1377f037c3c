//! Jobs that the engine has paused, or would have to.

use carillon_scheduler::{JobDraft, KindDraft};
use carillon_store::{Error, JobFilter};

use crate::conformance::fixture::{Fixture, NOW, SECOND, actor, after, each};

/// As the engine pauses a job: the cursor is kept beside the reason.
async fn pause(fixture: &Fixture, id: i64, cursor: i64) {
    fixture.sql(&format!("DELETE FROM job_clock WHERE job_id = {id}")).await;
    fixture
        .sql(&format!(
            "UPDATE job SET enabled = FALSE, paused_reason = 'cannot be planned', resume_from_at = {cursor}, \
             revision = revision + 1 WHERE id = {id}"
        ))
        .await;
}

databases! {
    // covers: H21
    async fn a_job_that_the_engine_paused_goes_on_where_it_stopped(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(-31)], after(-30)).await;
        pause(&fixture, job.id, after(-30)).await;
        let paused = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!(paused.paused_reason.as_deref(), Some("cannot be planned"));
        assert_eq!((paused.next_fire_at, paused.resume_from_at), (None, Some(after(-30))));
        let job = fixture.store.jobs().set_enabled(job.id, true, NOW, &actor()).await.unwrap();
        assert_eq!((job.next_fire_at, job.resume_from_at, job.paused_reason), (Some(after(-30)), None, None));
        assert_eq!(job.revision, 3);
    }

    async fn mended_by_an_edit_it_goes_on_there_with_the_new_schedule(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(-31)).await;
        pause(&fixture, job.id, after(-31)).await;
        let still_paused = fixture.definition(&JobDraft { enabled: false, ..each("*/10 * * * * ?") });
        let job = fixture.store.jobs().update(job.id, &still_paused, None, NOW, &actor()).await.unwrap();
        assert_eq!((job.resume_from_at, job.paused_reason.is_some()), (Some(after(-31)), true));
        let mended = fixture.definition(&each("*/10 * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &mended, None, NOW, &actor()).await.unwrap();
        assert_eq!((job.next_fire_at, job.paused_reason), (Some(after(-30)), None));
    }

    async fn edited_while_its_cursor_is_ahead_it_starts_afresh(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(0), after(1), after(2)], after(3)).await;
        pause(&fixture, job.id, after(3)).await;
        let mended = fixture.definition(&each("*/2 * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &mended, None, NOW, &actor()).await.unwrap();
        assert_eq!((fixture.story(&job).await.as_str(), job.next_fire_at), ("0:claimed", Some(after(2))));
    }

    async fn a_spoilt_schedule_is_shown_refused_and_mended(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(-20)).await;
        fixture.create(&each("* * * * * ?")).await;
        fixture.sql(&format!("UPDATE job SET schedule_text = 'every now and then' WHERE id = {}", job.id)).await;
        let filter = JobFilter { limit: 10, ..JobFilter::default() };
        let listed = fixture.store.jobs().list(&filter).await.unwrap().items;
        assert_eq!(listed.len(), 2, "one bad row hides no other");
        assert!(matches!(&listed[1].draft.schedule.kind, KindDraft::Cron(cron) if cron.expression == "every now and then"));
        pause(&fixture, job.id, after(-20)).await;
        let refused = fixture.store.jobs().set_enabled(job.id, true, NOW, &actor()).await;
        assert!(matches!(&refused, Err(Error::Invalid(error)) if error.field.starts_with("schedule.")), "{refused:?}");
        let mended = fixture.definition(&each("* * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &mended, None, NOW, &actor()).await.unwrap();
        assert_eq!(job.next_fire_at, Some(after(-20)));
    }

    async fn a_spoilt_schedule_that_nobody_noticed_yet_can_be_mended_too(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(-20)).await;
        fixture.sql(&format!("UPDATE job SET schedule_text = '[]' WHERE id = {}", job.id)).await;
        let mended = fixture.definition(&each("*/5 * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &mended, None, NOW, &actor()).await.unwrap();
        assert_eq!(job.next_fire_at, Some(SECOND - 20_000));
        assert_eq!(fixture.count("job_clock", "1 = 1").await, 1);
    }
}
