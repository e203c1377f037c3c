use carillon_scheduler::{AuditObjectKind, JobDraft, ScheduleDraft, zone_data};
use carillon_store::audit::list::AuditFilter;
use carillon_store::job::history::VersionRules;

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, each};

const HOUR: i64 = 3_600_000;

fn in_vancouver() -> JobDraft {
    JobDraft { schedule: ScheduleDraft::cron("0 0 9 * * ?", "America/Vancouver"), ..each("0 0 9 * * ?") }
}

databases! {
    async fn a_job_is_planned_anew_if_its_next_fire_is_another_one(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let right = fixture.create(&in_vancouver()).await;
        let job = fixture.create(&in_vancouver()).await;
        let utc = fixture.create(&each("0 0 9 * * ?")).await;
        // As other data has planned it: an instant is claimed ahead.
        fixture.run(&job, Row { fire_no: after(2), ..Row::default() }).await;
        fixture.set_cursor(&job, job.next_fire_at.unwrap() + HOUR).await;
        let page = fixture.store.calendars().jobs_of_changed_zones(0, 10, NOW).await.unwrap();
        assert_eq!((page.last, page.changed), (Some(utc.id), vec![job.id]));
        assert_eq!(fixture.store.calendars().jobs_of_changed_zones(utc.id, 10, NOW).await.unwrap().last, None);

        let followed = fixture.store.calendars().follow_zone_data(job.id, NOW, &actor()).await.unwrap();
        assert!(followed.is_changed);
        assert_eq!((followed.job.revision, followed.job.next_fire_at), (2, job.next_fire_at));
        assert_eq!((followed.job.draft.clone(), fixture.story(&job).await), (job.draft.clone(), String::new()));
        for unchanged in [job.id, right.id, utc.id] {
            assert!(!fixture.store.calendars().follow_zone_data(unchanged, NOW, &actor()).await.unwrap().is_changed);
        }

        let audit = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, job.id)).await.unwrap().items;
        let detail: serde_json::Value = serde_json::from_str(&audit[0].detail).unwrap();
        assert_eq!((audit[0].action.to_string(), &detail["zone_data"]), ("zone_data".into(), &zone_data().version().into()));
        // What fired by the other data is not judged by this one.
        let eras = fixture.store.jobs().definition_versions(&followed.job, 0).await.unwrap();
        let known: Vec<bool> = eras.iter().map(|era| !matches!(era.rules, VersionRules::Unknown)).collect();
        assert_eq!(known, [false, true]);
    }

    async fn what_is_due_already_and_what_is_paused_is_left_to_the_planner(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let due = fixture.create(&in_vancouver()).await;
        fixture.set_cursor(&due, after(-60)).await;
        let paused = fixture.create(&in_vancouver()).await;
        fixture.store.jobs().set_enabled(paused.id, false, NOW, &actor()).await.unwrap();
        for job in [due, paused] {
            assert!(!fixture.store.calendars().follow_zone_data(job.id, NOW, &actor()).await.unwrap().is_changed);
        }
    }

    async fn the_edition_that_all_jobs_are_planned_with_is_kept(db: &TestDatabase) {
        let store = Fixture::new(db).await.store;
        assert_eq!(store.calendars().planned_zone_data().await.unwrap(), None);
        for version in ["2025b", "2026f", "2026f"] {
            store.calendars().set_planned_zone_data(version).await.unwrap();
            assert_eq!(store.calendars().planned_zone_data().await.unwrap().as_deref(), Some(version));
        }
    }
}
