use carillon_scheduler::AuditObjectKind;
use carillon_scheduler::{JobDraft, MisfirePolicy, RunState, ScheduleDraft};
use carillon_store::Error;
use carillon_store::audit::list::AuditFilter;

use crate::conformance::fixture::{Fixture, NOW, Row, SECOND, actor, after, draft, each};

databases! {
    // covers: 000-4
    async fn an_edit_replaces_what_is_ahead(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let claimed = [after(-1), after(0), after(1), after(2), after(5)];
        let job = fixture.every_second(&claimed, after(6)).await;
        let edited = fixture.definition(&each("*/10 * * * * ?"));
        let job = fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "-1:claimed 0:claimed");
        assert_eq!((job.next_fire_at, job.revision), (Some(after(10)), 2));
        assert_eq!(fixture.count("job_clock", &format!("next_fire_at = {} AND revision = 2", after(10))).await, 1);
        assert_eq!(fixture.count("job_clock", "1 = 1").await, 1);
        assert_eq!(fixture.store.jobs().get(job.id).await.unwrap(), Some(job));
    }

    async fn an_instant_that_is_on_its_way_is_not_recorded_again(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(2)], after(3)).await;
        // Marked ahead of its time, and already settled by a quick callback.
        fixture.run(&job, Row { fire_no: after(1), state: RunState::Sending.code(), ..Row::default() }).await;
        let edited = fixture.definition(&JobDraft { name: "renamed".into(), ..each("* * * * * ?") });
        let job = fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "1:sending");
        assert_eq!(job.next_fire_at, Some(after(2)));
    }

    async fn an_edit_records_what_the_old_definition_left_overdue(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[], after(-2)).await;
        let edited = fixture.definition(&each("0 0 0 1 1 ?"));
        let job = fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.story(&job).await, "-2:claimed -1:claimed 0:claimed");
        let run = &fixture.runs(&job).await[0];
        assert_eq!((run.epoch, run.attempt, run.due_at, run.shard), (0, 1, after(-2), job.shard));
        assert!(job.next_fire_at > Some(after(60)));
    }

    async fn an_edit_applies_the_old_misfire_policy_to_what_is_too_late(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let skip = JobDraft { misfire: MisfirePolicy::Skip, ..each("* * * * * ?") };
        let job = fixture.create(&skip).await;
        fixture.set_cursor(&job, after(-100)).await;
        let edited = fixture.definition(&draft("by hand"));
        let job = fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        let runs = fixture.runs(&job).await;
        let ranges = fixture.rows("SELECT from_at, to_at, count, policy, reason, epoch FROM misfire").await;
        assert_eq!(ranges.len(), 1);
        let column = |index| ranges[0].try_get_by_index::<i64>(index).unwrap();
        assert_eq!(column(0), after(-100));
        assert_eq!(column(1), runs[0].fire_no - 1000);
        let count: i32 = ranges[0].try_get_by_index(2).unwrap();
        assert_eq!(i64::from(count) + runs.len() as i64, 101, "each instant once");
        assert_eq!(ranges[0].try_get_by_index::<String>(3).unwrap(), "skip");
        assert_eq!(ranges[0].try_get_by_index::<String>(4).unwrap(), "misfire");
        assert_eq!(job.next_fire_at, None);
    }

    async fn an_edit_decided_on_an_old_revision_is_refused(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("one")).await;
        let two = fixture.definition(&draft("two"));
        fixture.store.jobs().update(job.id, &two, Some(1), NOW, &actor()).await.unwrap();
        let three = fixture.definition(&draft("three"));
        let refused = fixture.store.jobs().update(job.id, &three, Some(1), NOW, &actor()).await;
        assert!(matches!(&refused, Err(Error::Changed(text)) if text.contains("revision 2")), "{refused:?}");
        assert_eq!(fixture.store.jobs().get(job.id).await.unwrap().unwrap().draft.name, "two");
        let missing = fixture.store.jobs().update(job.id + 9, &three, None, NOW, &actor()).await;
        assert!(matches!(missing, Err(Error::Missing(_))), "{missing:?}");
    }

    async fn a_fixed_rate_keeps_its_beat_until_its_rate_changes(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let rate = |seconds, name| JobDraft { schedule: ScheduleDraft::fixed_rate(seconds), ..draft(name) };
        let job = fixture.create(&rate(7, "a")).await;
        let later = NOW + 10_000;
        let check = |draft| carillon_store::Definition::check(&fixture.app, &draft, later).unwrap();
        let renamed = fixture.store.jobs().update(job.id, &check(rate(7, "b")), None, later, &actor()).await.unwrap();
        assert_eq!((renamed.anchor_at, renamed.next_fire_at), (SECOND, Some(after(14))));
        let slower = fixture.store.jobs().update(job.id, &check(rate(8, "b")), None, later, &actor()).await.unwrap();
        assert_eq!((slower.anchor_at, slower.next_fire_at), (after(10), Some(after(18))));
    }

    async fn edits_of_one_job_follow_one_another(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(1)], after(-1)).await;
        let edit = |name: &str| {
            let definition = fixture.definition(&JobDraft { name: name.into(), ..each("* * * * * ?") });
            let (store, id) = (fixture.store.clone(), job.id);
            async move { store.jobs().update(id, &definition, None, NOW, &actor()).await.unwrap() }
        };
        let (a, b, c) = futures_util::join!(edit("a"), edit("b"), edit("c"));
        let mut revisions = [a.revision, b.revision, c.revision];
        revisions.sort_unstable();
        assert_eq!(revisions, [2, 3, 4]);
        assert_eq!(fixture.count("job_clock", "1 = 1").await, 1);
        assert_eq!(fixture.story(&job).await, "-1:claimed 0:claimed");
        assert_eq!(fixture.count("audit", "action = 'update'").await, 3);
    }

    async fn an_edit_says_in_the_audit_what_it_changed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("one")).await;
        let edited = fixture.definition(&JobDraft { params: "x".repeat(60_000), ..draft("two") });
        fixture.store.jobs().update(job.id, &edited, None, NOW, &actor()).await.unwrap();
        let entry = &fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, job.id)).await.unwrap().items[0];
        let detail: serde_json::Value = serde_json::from_str(&entry.detail).unwrap();
        assert_eq!(detail["before"], serde_json::json!({"name": "one", "params": ""}));
        assert_eq!(detail["after"]["name"], "two");
        assert!(entry.detail.len() < 1500 && entry.detail.contains("(60000 bytes, SHA-256 "), "{}", entry.detail);
    }

    async fn a_job_moves_to_another_app_with_its_waiting_runs(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.every_second(&[after(0)], after(1)).await;
        let other = fixture.store.apps().create("shipping", "", NOW, &actor()).await.unwrap();
        let draft = JobDraft { app: "shipping".into(), ..each("* * * * * ?") };
        let moved = carillon_store::Definition::check(&other, &draft, NOW).unwrap();
        let job = fixture.store.jobs().update(job.id, &moved, None, NOW, &actor()).await.unwrap();
        assert_eq!((job.app_id, job.draft.app.as_str()), (other.id, "shipping"));
        assert_eq!(fixture.runs(&job).await[0].app, "shipping");
    }
}
