//! Addresses that people enter, executors that drain, and those that are removed.

use carillon_scheduler::AuditObjectKind;
use carillon_store::Error;
use carillon_store::app::executor_tokens::NewExecutorToken;
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::audit::list::AuditFilter;

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::executor::beat;

const ADDRESS: &str = "http://x:1/";

async fn only(fixture: &Fixture) -> Executor {
    let mut all = fixture.store.apps().executors_of("billing").await.unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

async fn details(fixture: &Fixture) -> Vec<String> {
    let filter = AuditFilter::about(AuditObjectKind::App, fixture.app.id);
    let entries = fixture.store.audit().list(&filter).await.unwrap().items;
    let mut of_executors: Vec<_> = entries.into_iter().filter(|entry| entry.action == "update_executor").collect();
    of_executors.reverse();
    of_executors.into_iter().map(|entry| entry.detail).collect()
}

databases! {
    // covers: S21
    async fn an_address_that_was_entered_outlives_registrations(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        store.apps().enter_executor(app, ADDRESS, 2, NOW, &actor()).await.unwrap();
        let century = NOW + 100 * 365 * 86_400_000;
        let entered = only(&fixture).await;
        assert_eq!((entered.manual_since, entered.boot_id.as_deref(), entered.is_live(century)), (Some(NOW), None, true));
        let again = store.apps().enter_executor(app, ADDRESS, 2, NOW, &actor()).await;
        assert!(matches!(&again, Err(Error::InUse(text)) if text.contains("already")), "{again:?}");
        // A registration adds what the executor says of itself, and its end takes only that away.
        store.apps().register_executor(&beat(ADDRESS, Some("boot-1"), NOW + 5)).await.unwrap();
        let registered = only(&fixture).await;
        assert_eq!((registered.boot_id.as_deref(), registered.seen_at), (Some("boot-1"), NOW + 5));
        assert!(registered.is_live(century) && registered.manual_since == Some(NOW));
        store.apps().seen_at_the_latest(NOW - 5).await.unwrap();
        assert_eq!(only(&fixture).await.expires_at, registered.expires_at, "a clock that goes back moves no end");
        assert!(store.apps().deregister_executor("billing", ADDRESS).await.unwrap());
        assert_eq!((only(&fixture).await.boot_id, only(&fixture).await.is_live(century)), (None, true));
        assert_eq!(store.apps().forget_executors(century).await.unwrap(), 0);
        // One that registers already can be entered, too; the number is limited.
        store.apps().register_executor(&beat("http://y:1/", None, NOW)).await.unwrap();
        store.apps().enter_executor(app, "http://y:1/", 2, NOW, &actor()).await.unwrap();
        let third = store.apps().enter_executor(app, "http://z:1/", 2, NOW, &actor()).await;
        assert!(matches!(&third, Err(Error::InUse(text)) if text.contains("2 addresses")), "{third:?}");
        assert!(store.apps().remove_executor(app, "http://y:1/", NOW, &actor()).await.unwrap());
        assert!(!store.apps().remove_executor(app, "http://y:1/", NOW, &actor()).await.unwrap());
        assert_eq!(only(&fixture).await.address, ADDRESS);
        let audited = details(&fixture).await;
        assert_eq!(audited.len(), 3, "{audited:?}");
        assert!(audited[0].contains("manual") && audited[2].contains("removed"), "{audited:?}");
    }

    async fn a_revoked_token_ends_what_it_registered_and_no_address_that_was_entered(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let new = NewExecutorToken { name: "a", token_hash: "a", sealed: "a", now: NOW, expires_at: None };
        let token = store.apps().create_executor_token(app, &new, &actor()).await.unwrap();
        store.apps().enter_executor(app, ADDRESS, 9, NOW, &actor()).await.unwrap();
        for address in [ADDRESS, "http://y:1/"] {
            let mut executor = beat(address, Some("boot"), NOW);
            executor.token_id = Some(token.id);
            store.apps().register_executor(&executor).await.unwrap();
        }
        assert!(store.apps().revoke_executor_token(app, token.id, NOW, &actor()).await.unwrap());
        let left = only(&fixture).await;
        assert_eq!((left.address.as_str(), left.token_id, left.boot_id), (ADDRESS, None, None));
    }

    async fn draining_outlives_heartbeats_and_other_settings(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        store.apps().register_executor(&beat(ADDRESS, Some("boot-1"), NOW)).await.unwrap();
        let drain = async |is_draining, at| store.apps().set_executor_draining(app, ADDRESS, is_draining, at, &actor()).await.unwrap();
        drain(true, NOW + 1).await;
        drain(true, NOW + 2).await;
        let weight = ExecutorSettings { weight: Some(3), labels: None };
        store.apps().set_executor_settings(app, ADDRESS, &weight, NOW + 3, &actor()).await.unwrap();
        store.apps().register_executor(&beat(ADDRESS, Some("boot-1"), NOW + 4)).await.unwrap();
        assert_eq!((only(&fixture).await.draining_since, only(&fixture).await.weight()), (Some(NOW + 1), 3));
        store.apps().deregister_executor("billing", ADDRESS).await.unwrap();
        store.apps().register_executor(&beat(ADDRESS, Some("boot-2"), NOW + 5)).await.unwrap();
        assert!(only(&fixture).await.is_draining(), "also when it has started anew");
        drain(false, NOW + 6).await;
        assert_eq!((only(&fixture).await.draining_since, only(&fixture).await.weight()), (None, 3));
        let audited = details(&fixture).await;
        assert_eq!(audited.len(), 3, "what changes nothing is not written: {audited:?}");
        assert!(audited[0].contains(r#""after":{"draining":true}"#), "{audited:?}");
        drain(true, NOW + 7).await;
        store.apps().remove_executor(app, ADDRESS, NOW + 8, &actor()).await.unwrap();
        store.apps().register_executor(&beat(ADDRESS, Some("boot-2"), NOW + 9)).await.unwrap();
        assert!(!only(&fixture).await.is_draining(), "what was set is forgotten with the executor");
    }
}
