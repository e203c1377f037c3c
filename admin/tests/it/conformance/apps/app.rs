use carillon_store::Error;
use carillon_store::app::executor_tokens::NewExecutorToken;
use carillon_store::app::executors::{Executor, ExecutorSettings};

use crate::conformance::fixture::{Fixture, NOW, actor};
use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;

databases! {
    async fn an_app_name_is_taken_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let again = fixture.store.apps().create("billing", "Another", NOW, &actor()).await;
        assert!(matches!(&again, Err(Error::Taken(what)) if what.contains("billing")), "{again:?}");
        // Compared byte by byte, on every database.
        fixture.store.apps().create("Billing", "", NOW, &actor()).await.unwrap();
        let names: Vec<_> = fixture.store.apps().list(&carillon_store::VisibleApps::All).await.unwrap().into_iter().map(|app| app.name).collect();
        assert_eq!(names, ["Billing", "billing"]);
        assert_eq!(fixture.store.apps().by_name("billing").await.unwrap(), Some(fixture.app.clone()));
        assert_eq!(fixture.store.apps().get(fixture.app.id).await.unwrap(), Some(fixture.app.clone()));
        assert_eq!(fixture.store.apps().by_name("BILLING").await.unwrap(), None);
    }

    async fn what_is_made_is_in_the_audit(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let entries = fixture.store.audit().list(&AuditFilter::about(AuditObjectKind::App, fixture.app.id)).await.unwrap().items;
        assert_eq!(entries.len(), 1);
        let entry = &entries[0];
        assert_eq!((entry.actor.as_str(), entry.source.as_str(), entry.action.as_str()), ("ada", "127.0.0.1", "create"));
        assert!(entry.detail.contains("Billing"), "{}", entry.detail);
    }

    // covers: W4
    async fn an_app_that_is_made_where_apps_have_tokens_accepts_its_own_alone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let before = store.apps().create("before", "", NOW, &actor()).await.unwrap();
        let new = NewExecutorToken { name: "one", token_hash: "one", sealed: "sealed", now: NOW, expires_at: None };
        store.apps().create_executor_token(&fixture.app, &new, &actor()).await.unwrap();
        let after = store.apps().create("after", "", NOW, &actor()).await.unwrap();
        assert_eq!((before.own_tokens_only, after.own_tokens_only), (false, true));
        assert_eq!(store.apps().get(after.id).await.unwrap(), Some(after));
    }

    // covers: W5
    async fn an_app_names_the_apps_whose_jobs_may_start_its_jobs(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let mut others = vec![];
        for name in ["sales", "orders"] {
            others.push(store.apps().create(name, "", NOW, &actor()).await.unwrap());
        }
        let names = async || store.apps().starters(app.id).await.unwrap().into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        store.apps().set_starters(app, &others, NOW, &actor()).await.unwrap();
        store.apps().set_starters(app, &others, NOW, &actor()).await.unwrap();
        assert_eq!(names().await, ["orders", "sales"]);
        assert_eq!(fixture.count("audit", "detail LIKE '%started_by%'").await, 1, "the second one changes nothing");
        store.apps().delete(&others[0], NOW, &actor()).await.unwrap();
        assert_eq!(names().await, ["orders"]);
        store.apps().set_starters(app, &[], NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("app_starter", "1 = 1").await, 0);
    }

    // covers: S17
    async fn an_app_has_two_valid_tokens_at_most(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let make = async |name: &'static str, expires_at: Option<i64>, now: i64| {
            let sealed = format!("sealed {name}");
            let new = NewExecutorToken { name, token_hash: name, sealed: &sealed, now, expires_at };
            store.apps().create_executor_token(app, &new, &actor()).await
        };
        let first = make("a", Some(NOW + 10), NOW).await.unwrap();
        let second = make("b", None, NOW).await.unwrap();
        let (third, fourth) = tokio::join!(make("c", None, NOW), make("d", None, NOW + 10));
        assert!(matches!(&third, Err(Error::InUse(text)) if text.contains("2 valid tokens")), "{third:?}");
        let fourth = fourth.unwrap();
        assert!(!first.is_valid(NOW + 10), "an expired one does not count");
        store.apps().touch_executor_token(second.id, "10.0.0.5", NOW + 5).await.unwrap();
        let all = store.apps().executor_tokens_of(app.id).await.unwrap();
        let seen: Vec<_> = all.iter().map(|it| (it.id, it.used_at, it.used_from.as_deref())).collect();
        assert_eq!(seen, [(fourth.id, None, None), (second.id, Some(NOW + 5), Some("10.0.0.5")), (first.id, None, None)]);
        let known = store.apps().app_tokens().await.unwrap();
        let hashes: Vec<_> = known.iter().map(|it| (&*it.app, it.token_hash.as_deref(), it.sealed.as_deref())).collect();
        let expected = ["a", "b", "d"].map(|it| ("billing", Some(it), Some(format!("sealed {it}"))));
        assert_eq!(hashes, expected.each_ref().map(|(app, hash, sealed)| (*app, *hash, sealed.as_deref())));
        let entries = store.audit().list(&AuditFilter::about(AuditObjectKind::ExecutorToken, second.id)).await.unwrap().items;
        assert!(entries.len() == 1 && !entries[0].detail.contains("sealed"), "{entries:?}");
    }

    // covers: S17
    async fn registrations_end_with_the_token_that_made_them(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        assert!(matches!(store.apps().set_own_tokens_only(app, true, NOW, &actor()).await, Err(Error::InUse(_))));
        let new = NewExecutorToken { name: "a", token_hash: "a", sealed: "a", now: NOW, expires_at: None };
        let token = store.apps().create_executor_token(app, &new, &actor()).await.unwrap();
        let register = async |address: &str, token_id: Option<i64>| {
            let executor = Executor {
                app: app.name.clone(), address: address.to_owned(), boot_id: None, capabilities: None, journal_id: None, token_id,
                registered_at: NOW, seen_at: NOW, expires_at: NOW + 90_000,
                announced: ExecutorSettings::default(), set: ExecutorSettings::default(), manual_since: None, draining_since: None,
            };
            store.apps().register_executor(&executor).await.unwrap()
        };
        let addresses = async || -> Vec<String> {
            store.apps().executors().await.unwrap().into_iter().map(|executor| executor.address).collect()
        };
        register("http://own/", Some(token.id)).await;
        register("http://global/", None).await;
        assert!(register("http://moved/", None).await && register("http://moved/", Some(token.id)).await, "that is news");
        assert!(!register("http://moved/", Some(token.id)).await);
        store.apps().set_own_tokens_only(app, true, NOW, &actor()).await.unwrap();
        assert_eq!(addresses().await, ["http://moved/", "http://own/"]);
        assert!(store.apps().get(app.id).await.unwrap().unwrap().own_tokens_only);
        assert!(!store.apps().revoke_executor_token(app, token.id + 999, NOW, &actor()).await.unwrap());
        assert!(store.apps().revoke_executor_token(app, token.id, NOW, &actor()).await.unwrap());
        assert_eq!(addresses().await, Vec::<String>::new());
        let known = store.apps().app_tokens().await.unwrap();
        assert_eq!((known.len(), known[0].own_tokens_only, known[0].id), (1, true, None), "it still accepts no other");
        store.apps().set_own_tokens_only(app, false, NOW, &actor()).await.unwrap();
        assert_eq!(store.apps().app_tokens().await.unwrap(), []);
    }
}
