use carillon_scheduler::{AuditAction, AuditObjectKind};
use carillon_store::audit::list::{AuditFilter, AuditKey, AuditRow};
use carillon_store::{Actor, AuditObject, Grants, Page, VisibleApps};
use serde_json::json;

use crate::conformance::fixture::{Fixture, NOW, each};

fn filter() -> AuditFilter {
    AuditFilter { limit: 100, ..AuditFilter::default() }
}

fn objects(page: &Page<AuditRow, AuditKey>) -> Vec<i64> {
    page.items.iter().map(|row| row.object_id).collect()
}

/// Entries about jobs 1 to 4, in another order than that of their times; jobs 2 and 4 are of app 8.
async fn fill(fixture: &Fixture) {
    fixture.sql("DELETE FROM audit").await;
    for (job, app, name, source, action, at) in [
        (3, 7, "ada", "10.0.0.1", AuditAction::Kill, 30),
        (1, 7, "bob", "10.0.0.2", AuditAction::Update, 10),
        (4, 8, "ada", "10.0.0.1", AuditAction::Update, 30),
        (2, 8, "bob", "10.0.0.1", AuditAction::Deny, 20),
    ] {
        let by = Actor::new(name, source, Grants::default())
            .with_account(5)
            .with_token("deploy")
            .with_request(Some("r1".into()));
        let detail = json!({"before": {"a": 1}, "after": {"a": 2}});
        fixture.store.audit().record(&by, action, AuditObject::job(job, app), detail, NOW + at).await.unwrap();
    }
}

databases! {
    // covers: S37
    async fn the_audit_comes_newest_first_page_by_page(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let mut found = vec![];
        let mut after = None;
        loop {
            let page = fixture.store.audit().list(&AuditFilter { after, limit: 1, ..filter() }).await.unwrap();
            found.extend(objects(&page));
            match page.next {
                Some(key) => after = Some(key),
                None => break,
            }
        }
        assert_eq!(found, [4, 3, 2, 1]);
        let entry = fixture.store.audit().list(&filter()).await.unwrap().items.remove(0);
        assert_eq!((entry.actor.as_str(), entry.actor_id, entry.token.as_deref()), ("ada", Some(5), Some("deploy")));
        assert_eq!((entry.request_id.as_deref(), entry.app_id, entry.app.clone()), (Some("r1"), Some(8), None));
        assert_eq!(entry.detail, r#"{"after":{"a":2},"before":{"a":1}}"#);
        let key: AuditKey = entry.key().to_string().parse().unwrap();
        assert_eq!(key, AuditKey { at: NOW + 30, id: entry.id });
    }

    // covers: S37, S13
    async fn the_audit_is_filtered_and_shows_the_visible_apps_alone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture).await;
        let found = async |filter: AuditFilter| objects(&fixture.store.audit().list(&filter).await.unwrap());
        assert_eq!(found(AuditFilter { actor: Some("ada".into()), ..filter() }).await, [4, 3]);
        assert_eq!(found(AuditFilter { source: Some("10.0.0.2".into()), ..filter() }).await, [1]);
        assert_eq!(found(AuditFilter { actions: vec![AuditAction::Kill, AuditAction::Deny], ..filter() }).await, [3, 2]);
        assert_eq!(found(AuditFilter { from: Some(NOW + 20), to: Some(NOW + 30), ..filter() }).await, [2]);
        assert_eq!(found(AuditFilter::about(AuditObjectKind::Job, 3)).await, [3]);
        assert_eq!(found(AuditFilter { object: Some(AuditObjectKind::Run), ..filter() }).await, [0; 0]);
        assert_eq!(found(AuditFilter { apps: VisibleApps::Only(vec![8]), ..filter() }).await, [4, 2]);
        assert_eq!(found(AuditFilter { apps: VisibleApps::Only(vec![]), ..filter() }).await, [0; 0]);
    }

    async fn an_object_is_named_as_it_is_called_now(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("0 * * * * ?")).await;
        let filter = AuditFilter { app: Some("billing".into()), ..filter() };
        let entries = fixture.store.audit().list(&filter).await.unwrap().items;
        let of_job = entries.iter().find(|entry| entry.object == "job").unwrap();
        assert_eq!((of_job.object_name.as_deref(), of_job.app.as_deref()), (Some(job.draft.name.as_str()), Some("billing")));
        assert!(entries.iter().any(|entry| entry.object == "app" && entry.app.as_deref() == Some("billing")));
    }
}
