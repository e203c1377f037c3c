//! Description, owner and tags.

use carillon_scheduler::JobDraft;
use carillon_store::{JobFilter, JobSort, VisibleApps};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, after, draft, each};

fn labelled(name: &str, owner: &str, tags: &[&str]) -> JobDraft {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    JobDraft { description: format!("What {name} does"), owner: owner.into(), tags, ..draft(name) }
}

databases! {
    async fn labels_are_kept_changed_and_dropped_with_the_job(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let made = fixture.create(&labelled("one", " team ä ", &["b", "a", "b"])).await;
        assert_eq!((made.draft.owner.as_str(), made.draft.tags.join(" ")), ("team ä", "a b".to_owned()));
        assert_eq!(fixture.store.jobs().get(made.id).await.unwrap(), Some(made.clone()));
        let next = fixture.definition(&JobDraft { description: String::new(), tags: vec!["c".into()], ..made.draft.clone() });
        let next = fixture.store.jobs().update(made.id, &next, None, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.store.jobs().get(made.id).await.unwrap(), Some(next.clone()));
        assert_eq!((next.draft.description.as_str(), next.draft.tags.as_slice()), ("", ["c".to_owned()].as_slice()));
        assert_eq!(fixture.store.jobs().tags_in_use(&VisibleApps::All, 9).await.unwrap(), ["c"]);
        assert_eq!(fixture.store.jobs().owners_in_use(&VisibleApps::All, 9).await.unwrap(), ["team ä"]);
        assert_eq!(fixture.count("audit", "action = 'update' AND detail LIKE '%tags%'").await, 1);
        fixture.store.jobs().delete(made.id, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("job_tag", "1 = 1").await + fixture.count("job_label", "1 = 1").await, 0);
    }

    async fn jobs_are_found_by_owner_tag_description_and_last_result(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let one = fixture.create(&labelled("one", "ada", &["night", "tier-1"])).await;
        let two = fixture.create(&labelled("two", "bob", &["night"])).await;
        let three = fixture.create(&draft("three")).await;
        for (job, fire, state) in [(&one, 1, 9), (&one, 2, 10), (&two, 1, 10), (&two, 2, 9), (&three, 1, 0)] {
            fixture.run(job, Row { fire_no: after(fire), state, ..Row::default() }).await;
        }
        let found = async |filter: JobFilter| {
            let filter = JobFilter { limit: 10, ..filter };
            let page = fixture.store.jobs().counted(&filter, 99).await.unwrap();
            let ids = fixture.store.jobs().ids_of(&filter, 99).await.unwrap();
            if matches!(filter.sort, JobSort::Id) {
                assert_eq!((page.count as usize, page.page.items.len()), (ids.len(), ids.len()));
            }
            page.page.items.iter().map(|job| job.draft.name.clone()).collect::<Vec<_>>().join(" ")
        };
        let all = JobFilter::default;
        assert_eq!(found(JobFilter { owner: Some("ada".into()), ..all() }).await, "one");
        assert_eq!(found(JobFilter { tag: Some("night".into()), ..all() }).await, "two one");
        assert_eq!(found(JobFilter { text: Some("WHAT TWO".into()), ..all() }).await, "two");
        assert_eq!(found(JobFilter { text: Some("tier".into()), ..all() }).await, "one");
        let failed = vec![carillon_scheduler::RunState::Failed];
        assert_eq!(found(JobFilter { last_results: failed, ..all() }).await, "one");
        assert_eq!(found(JobFilter { sort: JobSort::LastResult, ..all() }).await, "one two");
    }

    async fn jobs_are_sorted_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for (name, cron) in [("b", "0 * * * * ?"), ("a", "30 * * * * ?"), ("c", "15 * * * * ?")] {
            fixture.create(&JobDraft { name: name.into(), ..each(cron) }).await;
        }
        fixture.create(&draft("never")).await;
        let pages = async |sort: JobSort| {
            let (mut names, mut after) = (vec![], None);
            loop {
                let filter = JobFilter { sort, after, limit: 2, ..JobFilter::default() };
                let page = fixture.store.jobs().counted(&filter, 99).await.unwrap().page;
                names.push(page.items.iter().map(|job| job.draft.name.clone()).collect::<Vec<_>>().join(" "));
                after = page.next;
                if after.is_none() {
                    return names.join(" | ");
                }
            }
        };
        assert_eq!(pages(JobSort::Name).await, "a b | c never");
        let by_fire = pages(JobSort::NextFire(NOW)).await;
        assert!(["b c | a", "c a | b", "a b | c"].contains(&by_fire.as_str()), "{by_fire}");
    }
}
