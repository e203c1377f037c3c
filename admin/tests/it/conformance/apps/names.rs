//! Apps that are renamed and deleted.

use carillon_scheduler::AuditObjectKind;
use carillon_store::Error;
use carillon_store::app::delete_app::AppUse;
use carillon_store::app::executor_tokens::NewExecutorToken;
use carillon_store::app::executors::ExecutorSettings;
use carillon_store::app::pauses::Pause;
use carillon_store::audit::list::AuditFilter;

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::executor::beat;

databases! {
    async fn a_renamed_app_keeps_its_jobs_and_executors_and_its_old_name(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let job = fixture.ticking("tick").await;
        let weight = ExecutorSettings { weight: Some(3), labels: None };
        store.apps().register_executor(&beat("http://x:1/", Some("old"), NOW)).await.unwrap();
        store.apps().set_executor_settings(app, "http://x:1/", &weight, NOW, &actor()).await.unwrap();
        for address in ["http://x:1/", "http://y:1/"] {
            let mut early = beat(address, Some("early"), NOW);
            early.app = "sales".into();
            store.apps().register_executor(&early).await.unwrap();
        }
        let renamed = store.apps().update(app.id, "sales", "Sales", NOW + 1, &actor()).await.unwrap();
        assert_eq!((renamed.id, renamed.name.as_str(), renamed.title.as_str()), (app.id, "sales", "Sales"));
        assert_eq!(store.jobs().get(job.id).await.unwrap().unwrap().draft.app, "sales");
        let executors = store.apps().executors().await.unwrap();
        let seen: Vec<_> = executors.iter().map(|it| (&*it.app, &*it.address, it.boot_id.as_deref(), it.weight())).collect();
        assert_eq!(seen, [("sales", "http://x:1/", Some("old"), 3), ("sales", "http://y:1/", Some("early"), 1)]);
        let former = store.apps().former_names().await.unwrap();
        assert_eq!(former.iter().map(|it| (&*it.name, &*it.app, it.app_id)).collect::<Vec<_>>(), [("billing", "sales", app.id)]);
        // The old name is taken until it is removed.
        let taken = store.apps().create("billing", "", NOW, &actor()).await;
        assert!(matches!(&taken, Err(Error::Taken(text)) if text.contains("former name")), "{taken:?}");
        let other = store.apps().create("other", "", NOW, &actor()).await.unwrap();
        let taken = store.apps().update(other.id, "billing", "", NOW, &actor()).await;
        assert!(matches!(&taken, Err(Error::Taken(_))), "{taken:?}");
        let taken = store.apps().update(other.id, "sales", "", NOW, &actor()).await;
        assert!(matches!(&taken, Err(Error::Taken(_))), "{taken:?}");
        let back = store.apps().update(app.id, "billing", "Sales", NOW + 2, &actor()).await.unwrap();
        let names: Vec<_> = store.apps().former_names().await.unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["sales"]);
        assert!(store.apps().remove_former_name(&back, "sales", NOW + 3, &actor()).await.unwrap());
        assert!(!store.apps().remove_former_name(&back, "sales", NOW + 3, &actor()).await.unwrap());
        store.apps().create("sales", "", NOW, &actor()).await.unwrap();
        let entries = store.audit().list(&AuditFilter::about(AuditObjectKind::App, app.id)).await.unwrap().items;
        assert_eq!(entries.iter().filter(|entry| entry.action == "update").count(), 3);
    }

    async fn an_app_is_deleted_with_what_belongs_to_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let job = fixture.ticking("tick").await;
        let open = fixture.runs_in(&job, &[carillon_scheduler::RunState::Running]).await;
        assert_eq!(store.apps().app_use(app.id).await.unwrap(), AppUse { jobs: 1, open_runs: 1 });
        let refused = store.apps().delete(app, NOW, &actor()).await;
        assert!(matches!(&refused, Err(Error::InUse(text)) if text.contains("1 jobs and 1 runs")), "{refused:?}");
        store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
        assert!(store.apps().delete(app, NOW, &actor()).await.is_err(), "a run has not ended");
        fixture.sql(&format!("UPDATE run SET state = 9 WHERE id = {}", open[0])).await;
        store.apps().register_executor(&beat("http://x:1/", Some("boot"), NOW)).await.unwrap();
        store.apps().set_executor_draining(app, "http://x:1/", true, NOW, &actor()).await.unwrap();
        let token = NewExecutorToken { name: "a", token_hash: "a", sealed: "a", now: NOW, expires_at: None };
        store.apps().create_executor_token(app, &token, &actor()).await.unwrap();
        let (note, author) = ("note".to_owned(), "ada".to_owned());
        let pause = Pause { id: 0, app_id: Some(app.id), app: None, note, author, starts_at: NOW, ends_at: None, created_at: NOW };
        store.apps().create_pause(pause, &actor()).await.unwrap();
        store.apps().update(app.id, "sales", "Sales", NOW, &actor()).await.unwrap();
        let app = store.apps().get(app.id).await.unwrap().unwrap();
        store.apps().delete(&app, NOW + 1, &actor()).await.unwrap();
        assert_eq!(store.apps().get(app.id).await.unwrap(), None);
        for table in ["executor", "executor_setting", "executor_token", "app_pause", "app_alias"] {
            assert_eq!(fixture.count(table, "1 = 1").await, 0, "{table}");
        }
        assert_eq!(fixture.count("run", "1 = 1").await, 1, "past runs stay until the retention removes them");
        let missing = store.apps().delete(&app, NOW + 2, &actor()).await;
        assert!(matches!(missing, Err(Error::Missing(_))), "{missing:?}");
        let entries = store.audit().list(&AuditFilter::about(AuditObjectKind::App, app.id)).await.unwrap().items;
        assert!(entries[0].action == "delete" && entries[0].detail.contains("sales"), "{:?}", entries[0]);
    }

    async fn no_job_comes_to_an_app_that_is_gone(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (store, app) = (&fixture.store, &fixture.app);
        let draft = carillon_scheduler::JobDraft::new("billing", "late", "late");
        let definition = carillon_store::Definition::check(app, &draft, NOW).unwrap();
        store.apps().delete(app, NOW, &actor()).await.unwrap();
        let late = store.jobs().create(vec![definition], NOW, &actor(), None).await;
        assert!(matches!(late, Err(Error::Missing(_))), "{late:?}");
    }
}
