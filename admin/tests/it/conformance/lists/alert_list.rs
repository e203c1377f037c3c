use carillon_store::alert::alerts::AlertFilter;

use crate::conformance::fixture::{Fixture, after};

databases! {
    // covers: G9
    async fn an_alert_that_cannot_be_read_is_left_out_and_hides_no_other(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for (id, kind) in [(1, "failed"), (2, "future"), (3, "failed")] {
            fixture
                .sql(&format!(
                    "INSERT INTO alert (id, rule_id, group_key, state, kind, message, events, told, steps, opened_at, last_at) \
                     VALUES ({id}, 1, 'all', 1, '{kind}', 'a message', 1, 1, 1, {}, {})",
                    after(id),
                    after(id)
                ))
                .await;
        }
        let page = async |after| {
            let filter = AlertFilter { limit: 2, after, ..AlertFilter::default() };
            let page = fixture.store.alerts().list(&filter).await.unwrap();
            (page.items.iter().map(|alert| alert.id).collect::<Vec<_>>(), page.next)
        };
        let (first, next) = page(None).await;
        assert_eq!(first, [3]);
        assert_eq!(page(next).await, (vec![1], None), "the list goes on behind it");
        assert_eq!(fixture.store.take_unreadable().len(), 1);
    }
}
