use carillon_store::retention::rules::{Retention, Scope};

use super::client::Console;
use super::run;

#[test]
fn rules_are_set_for_all_for_an_app_and_for_a_job() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let page = admin.get("/retention").await.body;
        assert!(page.contains("30 days") && page.contains("Jobs of orders"), "{page}");
        assert!(!page.contains("/jobs/1/retention"), "the job has no rule of its own");
        let saved = admin.submit("/retention/edit", &[("days", "60"), ("failures", "")]).await;
        assert_eq!((saved.status, saved.location()), (303, "/retention"));
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap().id;
        let of_app = format!("/apps/{app}/retention");
        let form = admin.get(&of_app).await.body;
        assert!(form.contains("Empty: 60 days."), "what is in force without a value: {form}");
        admin.submit(&of_app, &[("runs", "500")]).await;
        admin.submit("/jobs/1/retention", &[("days", "0")]).await;
        let rule = async |scope| console.store.retention().of(scope).await.unwrap();
        assert_eq!(rule(Scope::All).await, Retention { days: Some(60), ..Retention::default() });
        assert_eq!(rule(Scope::App(app)).await, Retention { runs: Some(500), ..Retention::default() });
        assert_eq!(rule(Scope::Job(1)).await, Retention { days: Some(0), ..Retention::default() });
        let page = admin.get("/retention").await.body;
        for text in ["60 days", "500", "forever", "/jobs/1/retention"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let wrong = admin.submit("/jobs/1/retention", &[("days", "4000"), ("failures", "many")]).await;
        assert_eq!(wrong.status, 422);
        assert!(wrong.error("failures").unwrap().contains("`many` is not a whole number"));
        let wrong = admin.submit("/jobs/1/retention", &[("days", "4000")]).await;
        assert!(wrong.error("days").unwrap().contains("0 to 3650"), "{:?}", wrong.error("days"));
        admin.submit("/jobs/1/retention", &[]).await;
        assert_eq!(rule(Scope::Job(1)).await, Retention::default(), "an empty form removes the rule");
    });
}
