use carillon_store::{Misfire, MisfireFilter, MisfireKey, Page};

use crate::conformance::fixture::{Fixture, after};

fn filter() -> MisfireFilter {
    MisfireFilter { limit: 100, ..MisfireFilter::default() }
}

fn places(page: &Page<Misfire, MisfireKey>) -> Vec<(i64, i64)> {
    page.items.iter().map(|misfire| (misfire.job_id, (misfire.from_at - after(0)) / 1000)).collect()
}

async fn fill(fixture: &Fixture) {
    for (job, from, to) in [(1, 10, 19), (2, 10, 30), (1, 40, 49), (2, 50, 50)] {
        fixture
            .sql(&format!(
                "INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES \
                 ({job}, {}, {}, 10, 'skip', 'coalesced', 3)",
                after(from),
                after(to)
            ))
            .await;
    }
}

databases! {
    async fn skipped_ranges_come_newest_first_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let first = fixture.store.runs().misfires(&MisfireFilter { limit: 3, ..filter() }).await.unwrap();
        assert_eq!(places(&first), [(2, 50), (1, 40), (2, 10)]);
        let second = fixture.store.runs().misfires(&MisfireFilter { after: first.next, ..filter() }).await.unwrap();
        assert_eq!((places(&second), second.next), (vec![(1, 10)], None));
        let misfire = &second.items[0];
        assert_eq!((misfire.to_at, misfire.count, misfire.epoch), (after(19), 10, 3));
        assert_eq!((misfire.policy.as_str(), misfire.reason.as_str()), ("skip", "coalesced"));
    }

    async fn skipped_ranges_are_filtered_by_job_and_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let found = async |filter: MisfireFilter| places(&fixture.store.runs().misfires(&filter).await.unwrap());
        assert_eq!(found(MisfireFilter { job_id: Some(1), ..filter() }).await, [(1, 40), (1, 10)]);
        let touched = MisfireFilter { from: Some(after(20)), to: Some(after(50)), ..filter() };
        assert_eq!(found(touched).await, [(1, 40), (2, 10)], "a range counts if a part of it lies inside");
    }

    // covers: G9
    async fn a_range_that_cannot_be_read_is_left_out_and_hides_no_other(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        fixture.sql(&format!("UPDATE misfire SET reason = 'future' WHERE from_at = {}", after(40))).await;
        let (mut seen, mut after) = (vec![], None);
        loop {
            let page = fixture.store.runs().misfires(&MisfireFilter { limit: 2, after, ..filter() }).await.unwrap();
            seen.extend(places(&page));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, [(2, 50), (2, 10), (1, 10)]);
        assert_eq!(fixture.store.take_unreadable().len(), 1);
    }
}
