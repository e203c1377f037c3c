use carillon_scheduler::AuditObjectKind;
use carillon_store::app::declared::declarations::{Declaration, MOST_KEPT};
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::audit::list::AuditFilter;
use carillon_store::{DeclarationSetting, DeclaredState};

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::executor::beat;

const DEFINITION: &str = r#"{"build":"é","jobs":[]}"#;

fn declaration(digest: &str, at: i64) -> Declaration {
    let (digest, build) = (digest.to_owned(), "billing 1".to_owned());
    Declaration { digest, build, first_seen_at: at, problem: String::new() }
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
            store.declarations().add(app, &declaration(digest, at), DEFINITION).await.unwrap();
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
        let definition = store.declarations().definition(app.id, "old").await.unwrap();
        assert_eq!(definition.as_deref(), Some(DEFINITION));
        assert_eq!(store.declarations().definition(app.id, "new").await.unwrap(), None);
        let apps: Vec<i64> = store.declarations().declaring_apps().await.unwrap().iter().map(|app| app.id).collect();
        assert_eq!(apps, [app.id]);
    }

    async fn an_app_has_a_bounded_number_of_declarations(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let announced = async |address: &str, digest: &str| {
            store.apps().register_executor(&beat(address, Some("boot"), NOW)).await.unwrap();
            store.declarations().announce(&app.name, address, digest).await.unwrap();
        };
        announced("http://a:1", "d0").await;
        for at in 0..100 {
            store.declarations().add(app, &declaration(&format!("d{at}"), NOW + at), DEFINITION).await.unwrap();
        }
        assert_eq!(fixture.count("declaration", "1 = 1").await, MOST_KEPT as i64);
        for (digest, is_kept) in [("d0", true), ("d1", false), ("d80", false), ("d81", true), ("d99", true)] {
            assert_eq!(store.declarations().is_known(app.id, digest).await.unwrap(), is_kept, "{digest}");
        }
        for at in 81..100 {
            announced(&format!("http://a:{at}"), &format!("d{at}")).await;
        }
        let refused = store.declarations().add(app, &declaration("other", NOW), DEFINITION).await.unwrap_err();
        assert!(refused.to_string().contains("announce 20 of them"), "{refused}");
    }

    async fn a_refused_declaration_is_kept_with_its_reason_until_it_is_taken(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let refused = Declaration { problem: "é".to_owned(), ..declaration("d", NOW) };
        store.declarations().add(app, &refused, "").await.unwrap();
        store.apps().register_executor(&beat("http://a:1", Some("boot"), NOW)).await.unwrap();
        store.declarations().announce(&app.name, "http://a:1", "d").await.unwrap();
        assert_eq!(store.declarations().live(app, NOW).await.unwrap(), std::slice::from_ref(&refused));
        assert!(!store.declarations().is_known(app.id, "d").await.unwrap(), "it is asked for again");
        store.declarations().add(app, &declaration("d", NOW + 1), DEFINITION).await.unwrap();
        store.declarations().add(app, &refused, "").await.unwrap();
        assert_eq!(store.declarations().live(app, NOW).await.unwrap(), [declaration("d", NOW)]);
        assert!(store.declarations().is_known(app.id, "d").await.unwrap(), "an older node takes nothing back");
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
        assert_eq!(store.declarations().of_job(app.id, 7).await.unwrap(), Some(renamed));
        assert_eq!(store.declarations().of_job(app.id, 8).await.unwrap(), None);
        assert_eq!(store.declarations().of_job(app.id + 1, 7).await.unwrap(), None, "the job has moved to another app");
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
        store.declarations().add(app, &declaration("d", NOW), DEFINITION).await.unwrap();
        store.declarations().write_job(app.id, "close", &row("close")).await.unwrap();
        let app = store.apps().get(app.id).await.unwrap().unwrap();
        store.apps().delete(&app, NOW, &actor()).await.unwrap();
        assert_eq!(fixture.count("declaration", "1 = 1").await + fixture.count("declared_job", "1 = 1").await, 0);
    }
}
