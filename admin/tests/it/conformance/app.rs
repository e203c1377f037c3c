use carillon_store::Error;

use super::fixture::{Fixture, NOW, actor};
use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;

databases! {
    async fn an_app_name_is_taken_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let again = fixture.store.create_app("billing", "Another", NOW, &actor()).await;
        assert!(matches!(&again, Err(Error::Taken(what)) if what.contains("billing")), "{again:?}");
        // Compared byte by byte, on every database.
        fixture.store.create_app("Billing", "", NOW, &actor()).await.unwrap();
        let names: Vec<_> = fixture.store.apps(&carillon_store::VisibleApps::All).await.unwrap().into_iter().map(|app| app.name).collect();
        assert_eq!(names, ["Billing", "billing"]);
        assert_eq!(fixture.store.app_by_name("billing").await.unwrap(), Some(fixture.app.clone()));
        assert_eq!(fixture.store.app(fixture.app.id).await.unwrap(), Some(fixture.app.clone()));
        assert_eq!(fixture.store.app_by_name("BILLING").await.unwrap(), None);
    }

    async fn what_is_made_is_in_the_audit(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let entries = fixture.store.audit_entries(&AuditFilter::about(AuditObjectKind::App, fixture.app.id)).await.unwrap().items;
        assert_eq!(entries.len(), 1);
        let entry = &entries[0];
        assert_eq!((entry.actor.as_str(), entry.source.as_str(), entry.action.as_str()), ("ada", "127.0.0.1", "create"));
        assert!(entry.detail.contains("Billing"), "{}", entry.detail);
    }
}
