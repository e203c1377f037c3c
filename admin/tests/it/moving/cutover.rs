//! One app changes over, and back.

use carillon_import::xxl_job::{Error, ImportPlan, Shape, cut_over, go_back, import};
use carillon_store::{Actor, Store};

use super::tables::{NOW, XxlJob, options};
use crate::conformance::fixture::Fixture;

async fn enabled(store: &Store) -> Vec<i64> {
    let mut enabled = vec![];
    for origin in store.imports().origins("xxl_job").await.unwrap() {
        let job = store.jobs().get(origin.job_id).await.unwrap().unwrap();
        enabled.extend(job.draft.enabled.then_some(origin.source_id));
    }
    enabled
}

databases! {
    async fn an_app_runs_here_once_it_is_stopped_there_and_can_go_back(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let xxl = XxlJob::new(Shape::V34).await;
        xxl.group(1, "orders", "").await;
        xxl.group(2, "billing", "").await;
        xxl.job(10, &[]).await;
        xxl.job(11, &[("trigger_status", "0")]).await;
        xxl.job(12, &[("job_group", "2")]).await;
        let plan = ImportPlan::make(&xxl.read().await, store, &options()).await.unwrap();
        import(&plan, store, &Actor::cli(), NOW).await.unwrap();
        let (by, now) = (Actor::cli(), NOW);
        let cut = async |open_too| cut_over(&xxl.read().await, store, "orders", open_too, (&by, now)).await;

        let Err(Error::Input(text)) = cut(false).await else { panic!("it still runs there") };
        assert_eq!(text, "1 job of the app still to be stopped in xxl-job; stop these first: 10");
        xxl.sql("UPDATE xxl_job_info SET trigger_status = 0").await;
        xxl.sql("INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code) VALUES (1, 10, NOW(), 200, 0)").await;
        let Err(Error::Input(text)) = cut(false).await else { panic!("a run is open there") };
        assert!(text.contains("without a result in xxl-job") && text.ends_with(": 10"), "{text}");
        assert!(enabled(store).await.is_empty());
        let done = cut(true).await.unwrap();
        assert_eq!((done.switched, done.others, done.executors), (vec!["Job 10 (10)".to_owned()], 1, 0));
        assert_eq!(enabled(store).await, [10], "neither the one that was stopped, nor the other app");
        assert_eq!(cut(true).await.unwrap().switched, [""; 0]);

        // An import after they are stopped there forgets nothing.
        let plan = ImportPlan::make(&xxl.read().await, store, &options()).await.unwrap();
        assert_eq!((plan.changed.len(), plan.unchanged), (0, 3));
        // What runs there, and what was changed there, holds it up, imported or not; what is deleted there is left alone.
        xxl.job(13, &[("executor_route_strategy", "'ROUND'")]).await;
        let Err(Error::Input(text)) = cut(true).await else { panic!("it runs there") };
        assert!(text.ends_with("first: 13"), "{text}");
        xxl.sql("UPDATE xxl_job_info SET trigger_status = 0, executor_param = 'new' WHERE id IN (10, 13)").await;
        let Err(Error::Input(text)) = cut(true).await else { panic!("it was changed there") };
        assert_eq!(text, "1 job of the app changed in xxl-job since the import; import again first: 10");
        go_back("xxl_job", store, "orders", (&by, now)).await.unwrap();
        xxl.sql("DELETE FROM xxl_job_info WHERE id = 10").await;
        let done = cut(true).await.unwrap();
        assert_eq!((done.switched, done.not_imported), (vec![], vec![13]));
        xxl.job(10, &[("trigger_status", "0")]).await;
        assert_eq!(cut(true).await.unwrap().switched.len(), 1);

        let done = go_back("xxl_job", store, "orders", (&by, now)).await.unwrap();
        assert_eq!((done.switched.len(), enabled(store).await), (1, Vec::<i64>::new()));
        let Err(Error::Input(text)) = go_back("xxl_job", store, "payments", (&by, now)).await else { panic!("no app") };
        assert_eq!(text, "there is no app `payments` here");
    }
}
