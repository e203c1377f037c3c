use carillon_scheduler::{JobDraft, ScheduleDraft};
use carillon_store::{Job, JobFilter, JobSort, Page};

use crate::conformance::fixture::{Fixture, NOW, actor, after, draft, each};

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
        let first = fixture.store.jobs().list(&JobFilter { limit: 2, ..filter() }).await.unwrap();
        assert_eq!(names(&first), ["c", "b"]);
        assert_eq!(first.items[0].next_fire_at, Some(after(1)));
        let second = fixture.store.jobs().list(&JobFilter { limit: 2, after: first.next, ..filter() }).await.unwrap();
        assert_eq!((names(&second), second.next), (vec!["a"], None));
        assert_eq!(fixture.store.jobs().count(&filter(), 1000).await.unwrap(), 3);
        assert_eq!(fixture.store.jobs().count(&filter(), 2).await.unwrap(), 2, "the cap");
    }

    async fn a_page_comes_with_the_count_of_all(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for name in ["x1", "b1", "x2", "x3"] {
            fixture.create(&draft(name)).await;
        }
        let ask = JobFilter { text: Some("X".into()), limit: 2, ..filter() };
        let first = fixture.store.jobs().counted(&ask, 100).await.unwrap();
        assert_eq!((names(&first.page), first.count, first.is_cut), (vec!["x3", "x2"], 3, false));
        let second = fixture.store.jobs().counted(&JobFilter { after: first.page.next, ..ask.clone() }, 100).await.unwrap();
        assert_eq!((names(&second.page), second.count, second.page.next), (vec!["x1"], 3, None));
        let capped = fixture.store.jobs().counted(&JobFilter { after: first.page.next, ..ask }, 2).await.unwrap();
        assert_eq!((names(&capped.page), capped.count, capped.is_cut), (vec!["x1"], 2, true));
    }

    async fn a_page_that_cannot_be_is_the_first_one_or_empty(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for name in ["a", "b", "c"] {
            fixture.create(&JobDraft { name: name.into(), ..each("* * * * * ?") }).await;
        }
        for sort in [JobSort::Name, JobSort::NextFire(NOW)] {
            for (behind, count) in [(-1, 2), (i64::MIN, 2), (i64::MAX, 0)] {
                let ask = JobFilter { sort, after: Some(behind), limit: 2, ..filter() };
                assert_eq!(fixture.store.jobs().list(&ask).await.unwrap().items.len(), count, "{sort:?} {behind}");
            }
        }
    }

    async fn a_search_looks_at_a_part_of_the_ids_for_each_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (old, new) = (fixture.create(&draft("old")).await, fixture.create(&draft("new")).await);
        fixture.sql(&format!("UPDATE job SET id = 900000 WHERE id = {}", new.id)).await;
        fixture.sql(&format!("UPDATE job_params SET job_id = 900000 WHERE job_id = {}", new.id)).await;
        let ask = JobFilter { text: Some("old".into()), ..filter() };
        let found = fixture.store.jobs().counted(&ask, 100).await.unwrap();
        assert_eq!((found.count, found.is_cut), (0, true));
        let (mut next, mut pages) = (found.page.next, 1);
        let last = loop {
            let page = fixture.store.jobs().list(&JobFilter { after: next, ..ask.clone() }).await.unwrap();
            pages += 1;
            if page.next.is_none() {
                break page;
            }
            next = page.next;
        };
        assert_eq!((last.items[0].id, pages), (old.id, 5));
        let by_name = fixture.store.jobs().list(&JobFilter { name: Some("old".into()), ..filter() }).await.unwrap();
        assert_eq!(names(&by_name), ["old"], "a name is found wherever it is");
    }

    async fn jobs_are_filtered_by_every_member_of_the_filter(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let shipping = fixture.store.apps().create("shipping", "", NOW, &actor()).await.unwrap();
        fixture.create(&each("* * * * * ?")).await;
        fixture.create(&JobDraft { enabled: false, ..draft("paused") }).await;
        let rate = JobDraft { app: "shipping".into(), schedule: ScheduleDraft::fixed_rate(9), ..draft("rate") };
        let rate = carillon_store::Definition::check(&shipping, &rate, NOW).unwrap();
        let rate = fixture.store.jobs().create(vec![rate], NOW, &actor(), None).await.unwrap().remove(0).id;
        let found = async |filter: JobFilter| {
            let page = fixture.store.jobs().list(&filter).await.unwrap();
            assert_eq!(fixture.store.jobs().count(&filter, 99).await.unwrap() as usize, page.items.len());
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
            names(&fixture.store.jobs().list(&filter).await.unwrap()).join(" | ")
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
        assert_eq!(names(&fixture.store.jobs().list(&filter).await.unwrap()), ["x"]);
    }
}
