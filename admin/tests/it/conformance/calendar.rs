use carillon_scheduler::AuditObjectKind;
use carillon_scheduler::{Calendar, JobDraft, Millis};
use carillon_store::audit::list::AuditFilter;
use carillon_store::{Definition, DefinitionContext, Error, Job, JobFilter};

use super::fixture::{Fixture, NOW, Row, actor, after, each};

/// 2025-10-09, the day of [`NOW`], is a Thursday.
fn calendar(days: &[&str]) -> Calendar {
    Calendar {
        name: "bank".into(),
        title: String::new(),
        weekdays: Default::default(),
        days: days.iter().map(|day| day.parse().unwrap()).collect(),
        extra: Default::default(),
    }
}

fn using(cron: &str) -> JobDraft {
    let mut draft = each(cron);
    draft.schedule.calendars = vec!["bank".into()];
    draft
}

async fn create(fixture: &Fixture, draft: &JobDraft) -> Job {
    let calendars = fixture.store.calendars().named(&draft.schedule.calendars).await.unwrap();
    let surroundings = DefinitionContext::new(&fixture.app, &calendars);
    let definition = Definition::check_in(surroundings, draft, NOW).unwrap();
    let jobs = fixture.store.jobs().create(vec![definition], NOW, &actor(), None).await;
    jobs.unwrap().remove(0)
}

/// When the engine would plan it next.
async fn planned(fixture: &Fixture, job: &Job) -> Option<Millis> {
    let stored = fixture.store.jobs().definitions(&[job.id]).await.unwrap().remove(0);
    let shown = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
    assert_eq!(stored.calendars, shown.calendars);
    shown.schedule().unwrap().next_after(NOW)
}

databases! {
    async fn a_calendar_is_kept_in_versions(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let made = fixture.store.calendars().create(&calendar(&["2025-12-25"]), NOW, &actor()).await.unwrap();
        let again = fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await;
        assert!(matches!(&again, Err(Error::Taken(text)) if text.contains("bank")), "{again:?}");
        let same = fixture.store.calendars().update(&calendar(&["2025-12-25"]), Some(1), NOW, &actor()).await.unwrap();
        assert_eq!((same.version, same == made), (1, true));
        let newer = calendar(&["2025-12-25", "2025-12-26"]);
        let changed = fixture.store.calendars().update(&newer, Some(1), NOW + 5, &actor()).await.unwrap();
        assert_eq!((changed.version, changed.updated_at), (2, NOW + 5));
        assert_eq!(fixture.store.calendars().get("bank").await.unwrap(), Some(changed));
        let stale = fixture.store.calendars().update(&calendar(&[]), Some(1), NOW, &actor()).await;
        assert!(matches!(&stale, Err(Error::Changed(text)) if text.contains("version 2")), "{stale:?}");
        let versions = fixture.store.calendars().versions(made.id, None, 10).await.unwrap().items;
        let found: Vec<_> = versions.iter().map(|it| (it.version, it.calendar.days.len(), it.actor.as_str())).collect();
        assert_eq!(found, [(2, 2, "ada"), (1, 1, "ada")]);
        let audit = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Calendar, made.id)).await.unwrap().items;
        assert!(audit.len() == 2 && audit[0].detail.contains("2025-12-26"), "{audit:?}");
        fixture.store.calendars().delete("bank", NOW, &actor()).await.unwrap();
        assert_eq!(fixture.store.calendars().list(None, 10).await.unwrap().items, []);
        let missing = fixture.store.calendars().delete("bank", NOW, &actor()).await;
        assert!(matches!(missing, Err(Error::Missing(_))), "{missing:?}");
    }

    async fn jobs_follow_a_calendar_that_changes(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await.unwrap();
        let job = create(&fixture, &using("0 0 12 * * ?")).await;
        let other = fixture.create(&each("0 0 12 * * ?")).await;
        let today = after(3 * 3600 + 6 * 60);
        assert_eq!((job.next_fire_at, planned(&fixture, &job).await), (Some(today), Some(today)));
        // An instant was claimed ahead by the old version.
        fixture.run(&job, Row { fire_no: today, ..Default::default() }).await;
        fixture.set_cursor(&job, today + 86_400_000).await;
        fixture.store.calendars().update(&calendar(&["2025-10-09", "2025-10-10"]), None, NOW, &actor()).await.unwrap();
        // Until the job is rewritten, its revision means the old version.
        assert_eq!(planned(&fixture, &job).await, Some(today));
        assert_eq!(fixture.store.calendars().jobs_behind_calendars(0, 10).await.unwrap(), [job.id]);
        assert_eq!(fixture.store.calendars().jobs_behind_calendars(job.id, 10).await.unwrap(), [0i64; 0]);
        let followed = fixture.store.calendars().follow_calendars(job.id, NOW, &actor()).await.unwrap();
        assert_eq!((followed.revision, followed.next_fire_at), (2, Some(today + 2 * 86_400_000)));
        assert_eq!(followed.draft, job.draft);
        assert_eq!(fixture.story(&job).await, "");
        assert_eq!(planned(&fixture, &job).await, followed.next_fire_at);
        assert_eq!(fixture.store.calendars().jobs_behind_calendars(0, 10).await.unwrap(), [0i64; 0]);
        // Once is enough, and who uses none is left alone.
        assert_eq!(fixture.store.calendars().follow_calendars(job.id, NOW, &actor()).await.unwrap(), followed);
        assert_eq!(fixture.store.calendars().follow_calendars(other.id, NOW, &actor()).await.unwrap().revision, 1);
        let audit = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, job.id)).await.unwrap().items;
        let versions = r#"{"before":{"calendar_versions":{"bank":1}},"after":{"calendar_versions":{"bank":2}},"revision":2}"#;
        let detail: serde_json::Value = serde_json::from_str(&audit[0].detail).unwrap();
        assert_eq!(detail, serde_json::from_str::<serde_json::Value>(versions).unwrap());
    }

    // covers: G2
    async fn a_newer_calendar_gives_back_the_fires_that_it_takes_away(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await.unwrap();
        let mut draft = using("* * * * * ?");
        draft.schedule.max_fires = Some(1);
        let job = create(&fixture, &draft).await;
        // The only fire is recorded ahead: the job has no cursor any more.
        fixture.run(&job, Row { fire_no: after(1), ..Default::default() }).await;
        fixture.sql("DELETE FROM job_clock").await;
        fixture.sql("UPDATE job SET fires_left = 0").await;
        fixture.store.calendars().update(&calendar(&["2025-10-10"]), None, NOW, &actor()).await.unwrap();
        let followed = fixture.store.calendars().follow_calendars(job.id, NOW, &actor()).await.unwrap();
        assert_eq!((followed.fires_left, followed.next_fire_at), (Some(1), Some(after(1))));
        assert_eq!(fixture.story(&job).await, "", "its run is recorded again");
    }

    async fn a_paused_job_follows_too_and_stays_paused(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await.unwrap();
        let job = create(&fixture, &using("0 0 12 * * ?")).await;
        fixture.store.jobs().set_enabled(job.id, false, NOW, &actor()).await.unwrap();
        fixture.store.calendars().update(&calendar(&["2025-10-09"]), None, NOW, &actor()).await.unwrap();
        let followed = fixture.store.calendars().follow_calendars(job.id, NOW, &actor()).await.unwrap();
        assert_eq!((followed.draft.enabled, followed.next_fire_at), (false, None));
        let resumed = fixture.store.jobs().set_enabled(job.id, true, NOW, &actor()).await.unwrap();
        assert_eq!(resumed.next_fire_at, Some(after(27 * 3600 + 6 * 60)));
    }

    async fn a_calendar_in_use_is_not_deleted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await.unwrap();
        let jobs = [create(&fixture, &using("0 0 12 * * ?")).await, create(&fixture, &using("0 0 13 * * ?")).await];
        let refused = fixture.store.calendars().delete("bank", NOW, &actor()).await.unwrap_err();
        let text = format!("the calendar \"bank\" is used by 2 jobs: {} (tick), {} (tick)", jobs[0].id, jobs[1].id);
        assert_eq!(refused.to_string(), text);
        let of = |name: &str| JobFilter { calendar: Some(name.into()), limit: 10, ..JobFilter::default() };
        let ids = async |name: &str| -> Vec<i64> {
            let found = fixture.store.jobs().list(&of(name)).await.unwrap().items;
            found.iter().map(|job| job.id).collect()
        };
        assert_eq!(ids("bank").await, [jobs[1].id, jobs[0].id]);
        assert_eq!(ids("other").await, Vec::<i64>::new());
        // One names it no more, the other is deleted.
        let none = fixture.definition(&each("0 0 12 * * ?"));
        fixture.store.jobs().update(jobs[0].id, &none, None, NOW, &actor()).await.unwrap();
        fixture.store.jobs().delete(jobs[1].id, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("job_calendar", "1 = 1").await, 0);
        fixture.store.calendars().delete("bank", NOW, &actor()).await.unwrap();
    }

    async fn a_job_does_not_get_a_calendar_that_has_just_gone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await.unwrap();
        let draft = using("0 0 12 * * ?");
        let calendars = fixture.store.calendars().named(&draft.schedule.calendars).await.unwrap();
        let definition = Definition::check_in(DefinitionContext::new(&fixture.app, &calendars), &draft, NOW).unwrap();
        fixture.store.calendars().delete("bank", NOW, &actor()).await.unwrap();
        let refused = fixture.store.jobs().create(vec![definition], NOW, &actor(), None).await;
        assert!(matches!(&refused, Err(Error::Invalid(error)) if error.field == "schedule.calendars"), "{refused:?}");
        assert_eq!(fixture.count("job", "1 = 1").await, 0);
    }

    async fn a_spoilt_calendar_stops_only_those_who_use_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fixture.store.calendars().create(&calendar(&[]), NOW, &actor()).await.unwrap();
        let job = create(&fixture, &using("0 0 12 * * ?")).await;
        let other = fixture.create(&each("0 0 12 * * ?")).await;
        fixture.sql("UPDATE calendar_version SET definition = 'spoilt'").await;
        drop(job);
        let all = fixture.store.jobs().list(&carillon_store::JobFilter { limit: 10, ..Default::default() }).await.unwrap().items;
        let usable: Vec<_> = all.iter().map(|job| (job.id == other.id, job.schedule().is_ok())).collect();
        assert_eq!(usable, [(true, true), (false, false)]);
    }
}
