//! The number of jobs that an app may have.

use carillon_store::Error;
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW, actor, draft, repeated};

databases! {
    // covers: S40
    async fn requests_at_the_same_moment_do_not_exceed_the_jobs_of_an_app(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let two = vec![fixture.definition(&draft("one")), fixture.definition(&draft("two"))];
        let create = async || match fixture.store.jobs().create_within(two.clone(), Some(9), NOW, &actor(), None).await {
            Ok(jobs) => Ok(jobs.len()),
            Err(Error::Refused(error)) => {
                assert!(error.message.ends_with("an app may have 9 (--app-jobs)"), "{error}");
                Ok(0)
            }
            Err(error) => Err(error),
        };
        let made: usize = join_all((0..8).map(|_| repeated(&create))).await.into_iter().sum();
        assert_eq!((made, fixture.count("job", "1 = 1").await), (8, 8));
    }

    // covers: S40
    async fn a_repeated_request_finds_its_jobs_in_an_app_that_is_full(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let create = async |key: &str| {
            let definitions = vec![fixture.definition(&draft("one")), fixture.definition(&draft("two"))];
            fixture.store.jobs().create_within(definitions, Some(2), NOW, &actor(), Some(key)).await
        };
        let first = create("order-4711").await.unwrap();
        assert!(matches!(create("order-4712").await, Err(Error::Refused(_))));
        let again: Vec<i64> = create("order-4711").await.unwrap().iter().map(|job| job.id).collect();
        assert_eq!(again, first.iter().map(|job| job.id).collect::<Vec<_>>());
    }
}
