use carillon_scheduler::{JobDraft, ScheduleDraft};
use carillon_store::{Job, JobFilter, Page};

use super::fixture::{Fixture, NOW, actor, after, draft, each};

fn names(page: &Page<Job>) -> Vec<&str> {
    page.items.iter().map(|job| job.draft.name.as_str()).collect()
}

fn filter() -> JobFilter {
    JobFilter { limit: 100, ..JobFilter::default() }
}

databases! {
    async fn jobs_come_newest_first_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for name in ["a", "b", "c"] {
            fixture.create(&JobDraft { name: name.into(), ..each("* * * * * ?") }).await;
        }
        let first = fixture.store.jobs(&JobFilter { limit: 2, ..filter() }).await.unwrap();
        assert_eq!(names(&first), ["c", "b"]);
        assert_eq!(first.items[0].next_fire_at, Some(after(1)));
        let second = fixture.store.jobs(&JobFilter { limit: 2, after: first.next, ..filter() }).await.unwrap();
        assert_eq!((names(&second), second.next), (vec!["a"], None));
        assert_eq!(fixture.store.count_jobs(&filter(), 1000).await.unwrap(), 3);
        assert_eq!(fixture.store.count_jobs(&filter(), 2).await.unwrap(), 2, "the cap");
    }

    async fn jobs_are_filtered_by_every_member_of_the_filter(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let shipping = fixture.store.create_app("shipping", "", NOW, &actor()).await.unwrap();
        fixture.create(&each("* * * * * ?")).await;
        fixture.create(&JobDraft { enabled: false, ..draft("paused") }).await;
        let rate = JobDraft { app: "shipping".into(), schedule: ScheduleDraft::fixed_rate(9), ..draft("rate") };
        let rate = carillon_store::Definition::check(&shipping, &rate, NOW).unwrap();
        let rate = fixture.store.create_jobs(vec![rate], NOW, &actor(), None).await.unwrap().remove(0).id;
        let found = async |filter: JobFilter| {
            let page = fixture.store.jobs(&filter).await.unwrap();
            assert_eq!(fixture.store.count_jobs(&filter, 99).await.unwrap() as usize, page.items.len());
            names(&page).join(" ")
        };
        assert_eq!(found(JobFilter { app: Some("shipping".into()), ..filter() }).await, "rate");
        assert_eq!(found(JobFilter { app: Some("ship".into()), ..filter() }).await, "");
        assert_eq!(found(JobFilter { enabled: Some(false), ..filter() }).await, "paused");
        assert_eq!(found(JobFilter { enabled: Some(true), ..filter() }).await, "rate tick");
        assert_eq!(found(JobFilter { kind: Some("cron".into()), ..filter() }).await, "tick");
        assert_eq!(found(JobFilter { name: Some("rate".into()), ..filter() }).await, "rate");
        assert_eq!(found(JobFilter { ids: vec![rate, 987_654], ..filter() }).await, "rate");
        assert_eq!(found(JobFilter { name: Some("rat".into()), ..filter() }).await, "");
    }

    // covers: S30
    async fn signs_of_like_and_sql_are_only_text(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for name in ["50% off", "50 off", "a_b", "axb", "!wow", "Über", "o'Neil\\"] {
            fixture.create(&draft(name)).await;
        }
        let found = async |text: &str| {
            let filter = JobFilter { text: Some(text.into()), ..filter() };
            names(&fixture.store.jobs(&filter).await.unwrap()).join(" | ")
        };
        assert_eq!(found("50%").await, "50% off");
        assert_eq!(found("A_B").await, "a_b");
        assert_eq!(found("!W").await, "!wow");
        assert_eq!(found("o'n").await, "o'Neil\\");
        assert_eq!(found("\\").await, "o'Neil\\");
        assert_eq!(found("Über").await, "Über");
        assert_eq!(found("' OR 1=1 --").await, "");
        assert_eq!(found("CLOSEday").await.split(" | ").count(), 7, "the handler too");
        assert_eq!(found("  ").await.split(" | ").count(), 7);
    }

    async fn a_number_finds_the_job_of_this_id(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&draft("x")).await;
        fixture.create(&draft("y")).await;
        let filter = JobFilter { text: Some(job.id.to_string()), ..filter() };
        assert_eq!(names(&fixture.store.jobs(&filter).await.unwrap()), ["x"]);
    }
}
