//! A job that moves to another app between the check of who may change it and the change.

use carillon_scheduler::{Cause, JobDraft};
use carillon_store::backfill::backfills::NewBackfill;
use carillon_store::job::change::JobChange;
use carillon_store::run::trigger::NewTrigger;
use carillon_store::run::unmark::Unsent;
use carillon_store::{Definition, Error, Job, PauseNote, TargetJob};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, draft, each};

/// A job that was of the fixture's app, as its former team knows it.
async fn moved(fixture: &Fixture) -> (Job, TargetJob) {
    let job = fixture.create(&each("* * * * * ?")).await;
    (move_job(fixture, &job).await, TargetJob::of_app(job.id, fixture.app.id))
}

async fn move_job(fixture: &Fixture, job: &Job) -> Job {
    let other = match fixture.store.apps().by_name("shipping").await.unwrap() {
        Some(app) => app,
        None => fixture.store.apps().create("shipping", "", NOW, &actor()).await.unwrap(),
    };
    let draft = JobDraft { app: "shipping".into(), ..each("* * * * * ?") };
    let definition = Definition::check(&other, &draft, NOW).unwrap();
    fixture.store.jobs().update(job.id, &definition, None, NOW, &actor()).await.unwrap()
}

fn trigger(job: TargetJob) -> NewTrigger {
    NewTrigger {
        parts: None,
        job,
        cause: Cause::Api,
        params: None,
        priority: None,
        address: None,
        idempotency_key: None,
        traceparent: None,
        rerun_of: None,
        repeats_saved: false,
        is_only_rerun: false,
    }
}

databases! {
    // covers: 001-44
    async fn what_was_not_sent_before_a_move_names_no_secret_of_the_new_app(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let (claimed, sending, running) = (0, 1, 2);
        for (id, state) in [(1, claimed), (2, sending), (3, running), (4, sending)] {
            fixture.run(&job, Row { id, cause: 1, fire_no: id, state, ..Row::default() }).await;
            let given = format!("INSERT INTO run_input (run_id, params, repeats_saved) VALUES ({id}, '{{{{secret.A}}}}', TRUE)");
            fixture.sql(&given).await;
        }
        fixture.sql("UPDATE run SET mark_token = id, sends = 1 WHERE id > 1").await;
        move_job(&fixture, &job).await;
        let named = async |id| fixture.count("run_input", &format!("run_id = {id} AND repeats_saved = TRUE")).await;
        assert_eq!([named(1).await, named(2).await, named(3).await], [0, 1, 1], "what was sent is still masked");
        // One of the two that were marked was not sent after all.
        let back = [(2, 2), (4, 99)].map(|(run_id, token)| Unsent { run_id, token, bound: false });
        assert_eq!(fixture.store.runs().unmark(&back, NOW).await.unwrap().done, 1);
        assert_eq!([named(2).await, named(3).await, named(4).await], [0, 1, 1]);
    }

    // covers: S12
    async fn a_job_that_has_moved_is_missing_for_its_former_app(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, by) = (&fixture.store, actor());
        let (job, former) = moved(&fixture).await;
        let entries = fixture.count("audit", "1 = 1").await;
        let edited = fixture.definition(&draft("taken"));
        for change in [
            JobChange::Pause(PauseNote::default()),
            JobChange::Enable,
            JobChange::Delete,
            JobChange::Define(Box::new(edited.clone()), Some(job.revision)),
        ] {
            let refused = store.jobs().change(former, &change, NOW, &by).await;
            assert!(matches!(&refused, Err(Error::Missing(text)) if text.contains("job")), "{change:?}: {refused:?}");
        }
        assert!(matches!(store.jobs().delete(former, NOW, &by).await, Err(Error::Missing(_))));
        assert!(matches!(store.jobs().update(former, &edited, None, NOW, &by).await, Err(Error::Missing(_))));
        assert_eq!(store.runs().insert_triggered(&trigger(former), NOW, &by).await.unwrap(), None);
        let (from_at, to_at) = (after(-60), after(0));
        let backfill = NewBackfill { job: former, from_at, to_at, max_concurrent: 1, instants: vec![after(-30)] };
        assert!(matches!(store.backfills().create(&backfill, NOW, &by).await, Err(Error::Missing(_))));
        let now = store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!((now.app_id, now.revision, now.draft.enabled), (job.app_id, job.revision, true));
        assert_eq!((fixture.count("audit", "1 = 1").await, fixture.count("run", "1 = 1").await), (entries, 0));
    }

    // covers: S12
    async fn of_many_jobs_those_that_have_moved_are_left_as_they_are(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, by) = (&fixture.store, actor());
        let (stays, (gone, former)) = (fixture.create(&each("* * * * * ?")).await, moved(&fixture).await);
        let own = TargetJob::of_app(stays.id, fixture.app.id);
        let made = store.runs().insert_triggered_all(&[trigger(former), trigger(own)], NOW, &by).await.unwrap();
        assert!(made[0].is_none() && made[1].is_some());
        let changed = store.jobs().change_each(&[(own, JobChange::Delete), (former, JobChange::Delete)], NOW, &by).await.unwrap();
        assert!(matches!(&changed[..], [(_, Ok(_)), (_, Err(Error::Missing(_)))]), "{changed:?}");
        assert_eq!(store.jobs().get(stays.id).await.unwrap(), None);
        assert_eq!(store.jobs().get(gone.id).await.unwrap().unwrap().revision, gone.revision);
    }
}
