use carillon_scheduler::AuditObjectKind;
use carillon_store::Error;
use carillon_store::app::pauses::Pause;
use carillon_store::audit::list::AuditFilter;

use crate::conformance::apps::maintenance_windows::window;
use crate::conformance::fixture::{Fixture, NOW, actor};

fn pause(app_id: Option<i64>, starts_at: i64, ends_at: Option<i64>) -> Pause {
    let (note, author) = ("Umzug – 迁移".to_owned(), "ada".to_owned());
    Pause { id: 0, app_id, app: None, note, author, starts_at, ends_at, created_at: NOW }
}

databases! {
    async fn pauses_are_listed_until_they_end(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let of_app = store.apps().create_pause(pause(Some(app.id), NOW + 10, Some(NOW + 20)), &actor()).await.unwrap();
        let of_all = store.apps().create_pause(pause(None, NOW, None), &actor()).await.unwrap();
        let listed = store.apps().pauses_from(NOW).await.unwrap();
        let named = Pause { app: Some(app.name.clone()), ..of_app.clone() };
        assert_eq!(listed, [of_all.clone(), named.clone()], "in the order of their starts");
        assert_eq!(store.apps().pause(of_app.id).await.unwrap(), Some(named));
        assert_eq!(store.apps().pauses_from(NOW + 20).await.unwrap(), std::slice::from_ref(&of_all));
        assert!(store.apps().end_pause(&of_all, NOW + 30, &actor()).await.unwrap());
        assert!(!store.apps().end_pause(&of_all, NOW + 31, &actor()).await.unwrap(), "once");
        assert_eq!(store.apps().pauses_from(NOW + 30).await.unwrap(), []);
    }

    async fn the_pauses_and_windows_of_all_apps_are_read(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        for number in 1..=60 {
            let app = store.apps().create(&format!("app-{number}"), "", NOW, &actor()).await.unwrap();
            store.apps().create_pause(pause(Some(app.id), NOW, None), &actor()).await.unwrap();
            store.apps().create_maintenance_window(window(Some(app.id)), &actor()).await.unwrap();
        }
        assert_eq!(store.apps().pauses_from(NOW).await.unwrap().len(), 60);
        assert_eq!(store.apps().maintenance_windows().await.unwrap().len(), 60);
    }

    async fn no_pause_is_made_of_an_app_that_is_gone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        store.apps().delete(app, NOW, &actor()).await.unwrap();
        let late = store.apps().create_pause(pause(Some(app.id), NOW, None), &actor()).await;
        assert!(matches!(late, Err(Error::Missing(_))), "{late:?}");
        let late = store.apps().create_maintenance_window(window(Some(app.id)), &actor()).await;
        assert!(matches!(late, Err(Error::Missing(_))), "{late:?}");
    }

    async fn who_pauses_and_who_ends_it_is_in_the_audit(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let made = fixture.store.apps().create_pause(pause(Some(fixture.app.id), NOW, None), &actor()).await.unwrap();
        fixture.store.apps().end_pause(&made, NOW + 5, &actor()).await.unwrap();
        let entries = fixture.store.audit().list(&AuditFilter { limit: 2, ..AuditFilter::about(AuditObjectKind::App, fixture.app.id) }).await.unwrap().items;
        let actions: Vec<_> = entries.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["resume", "pause"]);
        assert!(entries[1].detail.contains("迁移"), "{}", entries[1].detail);
    }
}
