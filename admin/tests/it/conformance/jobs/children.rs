use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;
use carillon_store::job::change::JobChange;
use carillon_store::{Definition, Error, Job};

use crate::conformance::fixture::{Fixture, NOW, actor, draft};

impl Fixture {
    async fn with_children(&self, name: &str, children: &[i64]) -> Result<Job, Error> {
        let mut draft = draft(name);
        draft.children = children.to_vec();
        let definition = Definition::check(&self.app, &draft, NOW).unwrap();
        let made = self.store.jobs().create(vec![definition], NOW, &actor(), None).await?;
        Ok(made.into_iter().next().unwrap())
    }

    async fn give_children(&self, job: &Job, children: &[i64]) -> Result<Job, Error> {
        let mut draft = job.draft.clone();
        draft.children = children.to_vec();
        let definition = Definition::check(&self.app, &draft, NOW).unwrap();
        self.store.jobs().update(job.id, &definition, None, NOW, &actor()).await
    }
}

databases! {
    async fn children_are_kept_in_their_order_and_never_lead_back(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (a, b, c) = (
            fixture.with_children("a", &[]).await.unwrap(),
            fixture.with_children("b", &[]).await.unwrap(),
            fixture.with_children("c", &[]).await.unwrap(),
        );
        let d = fixture.with_children("d", &[c.id, a.id]).await.unwrap();
        assert_eq!(fixture.store.jobs().get(d.id).await.unwrap().unwrap().draft.children, [c.id, a.id]);
        let error = fixture.with_children("e", &[b.id, 77_777]).await.unwrap_err();
        assert_eq!(error.to_string(), "children: there is no job 77777");
        fixture.give_children(&c, &[b.id]).await.unwrap();
        let error = fixture.give_children(&b, &[d.id]).await.unwrap_err();
        let circle = format!("children: job {b} would run after itself: {b} → {d} → {c} → {b}", b = b.id, c = c.id, d = d.id);
        assert_eq!(error.to_string(), circle);
        let error = fixture.give_children(&a, &[a.id]).await.unwrap_err();
        assert_eq!(error.to_string(), format!("children: job {0} would run after itself: {0} → {0}", a.id));
        // A deleted job is the child of no job.
        fixture.store.jobs().delete(c.id, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.store.jobs().get(d.id).await.unwrap().unwrap().draft.children, [a.id]);
        let d = fixture.give_children(&d, &[]).await.unwrap();
        assert_eq!(fixture.store.jobs().get(d.id).await.unwrap().unwrap().draft.children, [0i64; 0]);
    }

    // covers: B2
    async fn deleting_a_child_is_a_revision_of_its_parents_with_an_entry_in_the_audit(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (first, second) =
            (fixture.with_children("first", &[]).await.unwrap(), fixture.with_children("second", &[]).await.unwrap());
        let parent = fixture.with_children("parent", &[first.id, second.id]).await.unwrap();
        let other = fixture.with_children("other", &[second.id]).await.unwrap();
        let children = async |job: &Job| {
            let job = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
            (job.revision, job.draft.children)
        };
        fixture.store.jobs().delete(first.id, NOW, &actor()).await.unwrap();
        assert_eq!(children(&parent).await, (2, vec![second.id]));
        assert_eq!(children(&other).await, (1, vec![second.id]), "it never had the child");
        let entries = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, parent.id)).await.unwrap().items;
        let detail: serde_json::Value = serde_json::from_str(&entries[0].detail).unwrap();
        assert_eq!((entries[0].actor.as_str(), entries[0].action.as_str()), ("ada", "update"));
        assert_eq!(detail["before"]["children"], serde_json::json!([first.id, second.id]));
        assert_eq!((&detail["after"]["children"], &detail["revision"]), (&serde_json::json!([second.id]), &2.into()));
        // Many at once, parents among them.
        let gone = [second.id, parent.id].map(|id| (id, JobChange::Delete));
        let done = fixture.store.jobs().change_each(&gone, NOW, &actor()).await.unwrap();
        assert!(done.iter().all(|(_, done)| done.is_ok()), "{done:?}");
        assert_eq!(children(&other).await, (2, vec![]));
        assert_eq!(fixture.count("job_child", "1 = 1").await, 0);
    }
}
