//! Registrations.

use carillon_store::app::executors::{Executor, ExecutorSettings};
use futures_util::future::join_all;

use crate::conformance::fixture::{Fixture, NOW};

pub fn beat(address: &str, boot_id: Option<&str>, at: i64) -> Executor {
    Executor {
        app: "billing".into(),
        address: address.into(),
        boot_id: boot_id.map(Into::into),
        capabilities: boot_id.map(|_| "idem".into()),
        journal_id: None,
        token_id: None,
        registered_at: at,
        seen_at: at,
        expires_at: at + 30_000,
        announced: ExecutorSettings::default(),
        set: ExecutorSettings::default(),
        manual_since: None,
        draining_since: None,
    }
}

databases! {
    async fn an_executor_is_new_once_and_then_beats(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let first = beat("http://x:1/", Some("boot-1"), NOW);
        assert!(store.apps().register_executor(&first).await.unwrap());
        let later = beat("http://x:1/", Some("boot-1"), NOW + 10_000);
        assert!(!store.apps().register_executor(&later).await.unwrap());
        let kept = Executor { registered_at: NOW, ..later };
        assert_eq!(store.apps().executors().await.unwrap(), [kept]);
        // The executor has restarted.
        let anew = beat("http://x:1/", Some("boot-2"), NOW + 20_000);
        assert!(store.apps().register_executor(&anew).await.unwrap());
        assert_eq!(store.apps().executors().await.unwrap(), std::slice::from_ref(&anew));
        // The lease of the executor was over, and the executor is back.
        assert!(!anew.is_live(NOW + 50_000));
        let back = beat("http://x:1/", Some("boot-2"), NOW + 50_000);
        assert!(store.apps().register_executor(&back).await.unwrap());
        assert_eq!(store.apps().executors().await.unwrap(), [back]);
    }

    // covers: G10
    async fn heartbeats_are_stored_after_a_newer_node_has_added_a_column(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        // Each connection has prepared the statement before.
        for second in 0..20 {
            let beat = beat("http://x:1/", Some("boot-1"), NOW + second * 1000);
            fixture.store.apps().register_executor(&beat).await.unwrap();
        }
        fixture.sql("ALTER TABLE executor ADD COLUMN of_a_newer_version INTEGER").await;
        for second in 20..40 {
            let beat = beat("http://x:1/", Some("boot-1"), NOW + second * 1000);
            assert!(!fixture.store.apps().register_executor(&beat).await.unwrap());
        }
        assert_eq!(fixture.store.apps().executors().await.unwrap()[0].seen_at, NOW + 39_000);
    }

    // covers: H30
    async fn one_address_under_two_apps_is_two_executors(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let stock = beat("http://x:1/", None, NOW);
        let shipping = Executor { app: "shipping".into(), ..stock.clone() };
        // An address is the executor's identity, to the letter.
        let upper = beat("http://X:1/", None, NOW);
        for executor in [&shipping, &stock, &upper] {
            assert!(store.apps().register_executor(executor).await.unwrap());
        }
        assert_eq!(store.apps().executors().await.unwrap().len(), 3);
        assert!(store.apps().deregister_executor("billing", "http://x:1/").await.unwrap());
        assert!(!store.apps().deregister_executor("billing", "http://x:1/").await.unwrap());
        let mut left = store.apps().executors().await.unwrap();
        left.sort_by(|a, b| a.app.cmp(&b.app));
        assert_eq!(left, [upper, shipping]);
        assert_eq!(store.apps().forget_executors(NOW + 30_000).await.unwrap(), 0);
        assert_eq!(store.apps().forget_executors(NOW + 30_001).await.unwrap(), 2);
    }

    // covers: S25
    async fn a_start_that_is_over_ends_no_later_one(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        store.apps().register_executor(&beat("http://x:1/", Some("one"), NOW)).await.unwrap();
        let later = beat("http://x:1/", Some("two"), NOW + 1);
        store.apps().register_executor(&later).await.unwrap();
        for boot_id in ["one", "two ", "TWO", ""] {
            store.apps().deregister_start("billing", "http://x:1/", boot_id).await.unwrap();
        }
        // Compared without blanks at the end by some databases; a header has none.
        assert!(db.kind() == Kind::Mariadb || store.apps().executors().await.unwrap() == [later.clone()]);
        store.apps().register_executor(&later).await.unwrap();
        assert!(store.apps().deregister_start("billing", "http://x:1/", "two").await.unwrap());
        assert!(store.apps().executors().await.unwrap().is_empty());
    }

    async fn first_beats_at_once_are_one_registration(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let beats = (0..20).map(|_| {
            let store = fixture.store.clone();
            tokio::spawn(async move { store.apps().register_executor(&beat("http://x:1/", None, NOW)).await.unwrap() })
        });
        let new: Vec<bool> = join_all(beats).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(new.iter().filter(|new| **new).count(), 1);
        assert_eq!(fixture.store.apps().executors().await.unwrap().len(), 1);
    }
}
