use carillon_store::app::maintenance_windows::MaintenanceWindow;

use crate::conformance::fixture::{Fixture, NOW, actor};

pub fn window(app_id: Option<i64>) -> MaintenanceWindow {
    MaintenanceWindow {
        id: 0,
        app_id,
        app: None,
        note: "Wartung – 维护".to_owned(),
        author: "ada".to_owned(),
        expression: "0 0 2 ? * SUN".to_owned(),
        timezone: "Europe/Berlin".to_owned(),
        minutes: 120,
        ended_at: None,
        created_at: NOW,
    }
}

databases! {
    async fn maintenance_windows_are_kept_ended_and_deleted(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let of_app = store.apps().create_maintenance_window(window(Some(app.id)), &actor()).await.unwrap();
        let of_all = store.apps().create_maintenance_window(window(None), &actor()).await.unwrap();
        let of_app = MaintenanceWindow { app: Some(app.name.clone()), ..of_app };
        assert_eq!(store.apps().maintenance_windows().await.unwrap(), [of_app.clone(), of_all.clone()]);
        assert!(store.apps().end_maintenance(&of_app, NOW + 5, &actor()).await.unwrap());
        let ended = MaintenanceWindow { ended_at: Some(NOW + 5), ..of_app.clone() };
        assert_eq!(store.apps().maintenance_window(of_app.id).await.unwrap(), Some(ended));
        assert!(store.apps().delete_maintenance_window(&of_all, NOW + 6, &actor()).await.unwrap());
        assert!(!store.apps().delete_maintenance_window(&of_all, NOW + 6, &actor()).await.unwrap(), "once");
        assert_eq!(store.apps().maintenance_windows().await.unwrap().len(), 1);
        assert_eq!(fixture.count("audit", "action = 'resume'").await, 2);
    }
}
