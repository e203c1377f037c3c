use carillon_scheduler::{Cause, JobDraft, RunState};
use carillon_store::Error;

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, draft, each};

databases! {
    // covers: 001-15
    async fn disabled_200_ms_before_a_fire_its_row_says_why(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1)], after(2)).await;
        let job = fixture.store.jobs().set_enabled(job.id, false, after(1) - 200, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "1:cancelled(disabled)");
        let run = &fixture.runs(&job).await[0];
        assert_eq!(run.finished_at, Some(after(1) - 200));
        assert_eq!(run.message(), "The job was paused before it was sent.");
        assert_eq!((job.next_fire_at, job.draft.enabled, job.revision), (None, false, 2));
        assert_eq!(fixture.count("job_clock", "1 = 1").await, 0);
        assert_eq!(fixture.store.jobs().get(job.id).await.unwrap(), Some(job));
    }

    async fn disabling_cancels_retries_and_what_is_overdue_but_nothing_else(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(-3)], after(0)).await;
        let other = fixture.every_second(&[after(-3)], after(0)).await;
        let retry = Row { fire_no: after(-9), attempt: 2, due_at: after(30), ..Row::default() };
        fixture.run(&job, retry).await;
        fixture.run(&job, Row { fire_no: after(-2), state: RunState::Running.code(), ..Row::default() }).await;
        fixture.run(&job, Row { id: 77, fire_no: 77, cause: Cause::Manual.code(), due_at: NOW, ..Row::default() }).await;
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let story = fixture.story(&job).await;
        let (by_hand, rest) = story.split_once(' ').unwrap();
        assert!(by_hand.ends_with(":claimed"), "{story}");
        assert_eq!(rest, "-9:cancelled(disabled) -3:cancelled(disabled) -2:running 0:cancelled(disabled)");
        assert_eq!(fixture.story(&other).await, "-3:claimed");
    }

    async fn enabled_again_a_job_records_what_is_still_ahead_anew(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(0), after(1), after(3)], after(4)).await;
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let later = NOW + 1500;
        let job = fixture.store.jobs().set_enabled(job.id, true, later, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "0:cancelled(disabled) 1:cancelled(disabled)");
        assert_eq!((job.next_fire_at, job.revision), (Some(after(2)), 3));
        assert_eq!(fixture.count("job_clock", &format!("revision = 3 AND shard = {}", job.shard)).await, 1);
    }

    // covers: 001-31
    async fn what_a_pause_leaves_out_stays_out(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        let job = fixture.store.jobs().set_enabled(job.id, true, NOW + 3_600_000, &actor()).await.unwrap();
        assert_eq!(job.next_fire_at, Some(after(3601)));
        assert_eq!(fixture.story(&job).await, "");
        assert_eq!(fixture.count("misfire", "1 = 1").await, 0);
    }

    async fn a_wish_that_is_fulfilled_changes_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        assert_eq!(fixture.store.jobs().set_enabled(job.id, true, NOW, &actor()).await.unwrap(), job);
        let paused = fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.store.jobs().set_enabled(job.id, false, NOW + 5, &actor()).await.unwrap(), paused);
        assert_eq!(fixture.count("audit", "object = 'job'").await, 2);
        let missing = fixture.store.jobs().set_enabled(job.id + 9, false, NOW, &actor()).await;
        assert!(matches!(missing, Err(Error::Missing(_))), "{missing:?}");
    }

    async fn an_edit_can_pause_and_resume(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1)], after(2)).await;
        let paused = fixture.definition(&JobDraft { enabled: false, ..each("* * * * * ?") });
        let job = fixture.store.jobs().update(job.id, &paused, None, NOW, &actor()).await.unwrap();
        assert_eq!((fixture.story(&job).await.as_str(), job.next_fire_at), ("1:cancelled(disabled)", None));
        let resumed = fixture.definition(&each("*/2 * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &resumed, None, NOW, &actor()).await.unwrap();
        assert_eq!((fixture.story(&job).await.as_str(), job.next_fire_at), ("", Some(after(2))));
        let by_hand = fixture.definition(&draft("by hand"));
        let job = fixture.store.jobs().update(job.id, &by_hand, None, NOW, &actor()).await.unwrap();
        assert_eq!((job.next_fire_at, fixture.count("job_clock", "1 = 1").await), (None, 0));
    }
}
