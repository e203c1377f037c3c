use carillon_admin::store::Error;

use super::world::{NOW, World, actor};

databases! {
    async fn an_app_name_is_taken_once(db: &TestDatabase) {
        let world = World::new(db).await;
        let again = world.store.create_app("billing", "Another", NOW, &actor()).await;
        assert!(matches!(&again, Err(Error::Taken(what)) if what.contains("billing")), "{again:?}");
        // Compared byte by byte, on every database.
        world.store.create_app("Billing", "", NOW, &actor()).await.unwrap();
        let names: Vec<_> = world.store.apps().await.unwrap().into_iter().map(|app| app.name).collect();
        assert_eq!(names, ["Billing", "billing"]);
        assert_eq!(world.store.app_by_name("billing").await.unwrap(), Some(world.app.clone()));
        assert_eq!(world.store.app(world.app.id).await.unwrap(), Some(world.app.clone()));
        assert_eq!(world.store.app_by_name("BILLING").await.unwrap(), None);
    }

    async fn what_is_made_is_in_the_audit(db: &TestDatabase) {
        let world = World::new(db).await;
        let entries = world.store.audit_entries(Some(("app", world.app.id)), None, 10).await.unwrap().items;
        assert_eq!(entries.len(), 1);
        let entry = &entries[0];
        assert_eq!((entry.actor.as_str(), entry.source.as_str(), entry.action.as_str()), ("ada", "127.0.0.1", "create"));
        assert!(entry.detail.contains("Billing"), "{}", entry.detail);
    }
}
