use carillon_scheduler::AuditObjectKind;
use carillon_scheduler::{Cause, RunState};
use carillon_store::audit::list::AuditFilter;
use carillon_store::{Error, RunFilter, VisibleApps};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after};

databases! {
    async fn a_deleted_job_leaves_its_runs_and_says_why_the_rest_never_ran(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(-3), after(1)], after(0)).await;
        fixture.run(&job, Row { fire_no: after(-5), state: RunState::Succeeded.code(), ..Row::default() }).await;
        fixture.run(&job, Row { id: 77, fire_no: 77, cause: Cause::Manual.code(), ..Row::default() }).await;
        let was = fixture.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        assert_eq!((was.id, was.shard), (job.id, job.shard));
        assert_eq!(fixture.store.jobs().get(job.id).await.unwrap(), None);
        for table in ["job", "job_params", "job_clock"] {
            assert_eq!(fixture.count(table, "1 = 1").await, 0, "{table}");
        }
        let story = fixture.story(&job).await;
        let (by_hand, rest) = story.split_once(' ').unwrap();
        assert!(by_hand.ends_with(":cancelled(deleted)"), "{story}");
        assert_eq!(rest, "-5:succeeded -3:cancelled(deleted) 0:cancelled(deleted) 1:cancelled(deleted)");
        let run = &fixture.runs(&job).await[1];
        assert_eq!((run.job.as_deref(), run.app.as_str(), run.job_id), (None, "billing", job.id));
        let again = fixture.store.jobs().delete(job.id, NOW, &actor()).await;
        assert!(matches!(again, Err(Error::Missing(_))), "{again:?}");
    }

    async fn the_runs_of_a_deleted_job_are_still_listed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1)], after(2)).await;
        fixture.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        let filter = RunFilter { app: Some("billing".into()), limit: 10, ..RunFilter::default() };
        let runs = fixture.store.runs().list(&filter).await.unwrap().items;
        assert_eq!(runs.len(), 1);
        assert_eq!(fixture.store.runs().get(runs[0].id).await.unwrap(), Some(runs[0].clone()));
        assert_eq!(fixture.store.runs().fire_runs(&runs[0], &VisibleApps::All).await.unwrap(), runs);
        let entries = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, job.id)).await.unwrap().items;
        assert_eq!(entries[0].action, "delete");
        assert!(entries[0].detail.contains("closeDay"));
    }
}
