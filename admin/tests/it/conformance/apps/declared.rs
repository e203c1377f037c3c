use carillon_scheduler::AuditObjectKind;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::audit::list::AuditFilter;
use carillon_store::{DeclarationSetting, DeclaredState};

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::executor::beat;

fn declaration(digest: &str, at: i64) -> Declaration {
    let definition = r#"{"build":"é","jobs":[]}"#.to_owned();
    Declaration { digest: digest.to_owned(), build: "billing 1".to_owned(), first_seen_at: at, definition }
}

fn row(key: &str) -> DeclaredJob {
    DeclaredJob {
        job_key: key.to_owned(),
        was: String::new(),
        job_id: Some(7),
        state: DeclaredState::Overridden,
        build: "billing 1".to_owned(),
        policy: "adopt".to_owned(),
        place: "src/jobs.rs:12".to_owned(),
        code: "{}".to_owned(),
        base: "{}".to_owned(),
        report: "[]".to_owned(),
        problem: String::new(),
        changed_at: NOW,
        orphan_at: None,
    }
}

databases! {
    async fn the_declaration_counts_that_live_executors_announced_last_for_the_first_time(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let live = async || -> Vec<String> {
            let live = store.declarations().live(app, NOW + 1).await.unwrap();
            live.into_iter().map(|it| it.digest).collect()
        };
        for (digest, at) in [("old", NOW), ("new", NOW + 5), ("old", NOW + 9)] {
            store.declarations().add(app.id, &declaration(digest, at)).await.unwrap();
        }
        assert_eq!(live().await, [""; 0]);
        for (address, digest) in [("http://a:1", "old"), ("http://b:1", "new"), ("http://c:1", "unknown")] {
            store.apps().register_executor(&beat(address, Some("boot"), NOW)).await.unwrap();
            store.declarations().announce(&app.name, address, digest).await.unwrap();
        }
        assert_eq!(live().await, ["new", "old"], "a declaration that comes again keeps the time of its first one");
        assert_eq!(store.declarations().announcer(&app.name, "old", NOW).await.unwrap().as_deref(), Some("http://a:1"));
        assert!(store.declarations().is_known(app.id, "old").await.unwrap());
        assert!(!store.declarations().is_known(app.id, "unknown").await.unwrap());
        store.apps().register_executor(&beat("http://b:1", Some("boot"), NOW)).await.unwrap();
        assert_eq!(live().await, ["new", "old"], "a heartbeat changes nothing");
        store.apps().register_executor(&beat("http://b:1", Some("another start"), NOW)).await.unwrap();
        assert_eq!(live().await, ["old"]);
        let kept = store.declarations().live(app, NOW + 1).await.unwrap();
        store.declarations().note_live(app.id, &kept, NOW + 50, NOW + 100).await.unwrap();
        assert!(!store.declarations().is_known(app.id, "new").await.unwrap(), "no executor has announced it");
        assert_eq!(kept[0].definition, declaration("old", NOW).definition);
        let apps: Vec<i64> = store.declarations().declaring_apps().await.unwrap().iter().map(|app| app.id).collect();
        assert_eq!(apps, [app.id]);
    }

    async fn a_declared_job_is_one_row_also_after_it_was_renamed(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        store.declarations().write_job(app.id, "close", &row("close")).await.unwrap();
        let changed = DeclaredJob { state: DeclaredState::Orphan, orphan_at: Some(NOW), ..row("close") };
        store.declarations().write_job(app.id, "close", &changed).await.unwrap();
        assert_eq!(store.declarations().jobs_of(app.id).await.unwrap(), [changed]);
        let renamed = DeclaredJob { was: "close".to_owned(), ..row("close-day") };
        store.declarations().write_job(app.id, "close", &renamed).await.unwrap();
        assert_eq!(store.declarations().jobs_of(app.id).await.unwrap(), std::slice::from_ref(&renamed));
        assert_eq!(store.declarations().of_job(7).await.unwrap(), Some(renamed));
        assert_eq!(store.declarations().of_job(8).await.unwrap(), None);
        store.declarations().forget_job(app.id, "close-day").await.unwrap();
        assert_eq!(store.declarations().jobs_of(app.id).await.unwrap(), []);
    }

    async fn the_setting_of_an_app_is_audited_and_its_rows_go_with_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        assert_eq!(app.declarations, DeclarationSetting::Report);
        for _ in 0..2 {
            let set = store.declarations().set(app.id, DeclarationSetting::Apply, NOW, &actor()).await.unwrap();
            assert_eq!(set.declarations, DeclarationSetting::Apply);
        }
        let filter = AuditFilter { limit: 100, ..AuditFilter::about(AuditObjectKind::App, app.id) };
        let entries = store.audit().list(&filter).await.unwrap().items;
        let about: Vec<&str> = entries.iter().map(|entry| &*entry.detail).filter(|it| it.contains("declarations")).collect();
        assert_eq!(about.len(), 1, "the second one changes nothing: {about:?}");
        store.declarations().add(app.id, &declaration("d", NOW)).await.unwrap();
        store.declarations().write_job(app.id, "close", &row("close")).await.unwrap();
        let app = store.apps().get(app.id).await.unwrap().unwrap();
        store.apps().delete(&app, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("declaration", "1 = 1").await + fixture.count("declared_job", "1 = 1").await, 0);
    }
}
