use carillon_store::Actor;

use super::client::Console;
use super::run;

#[test]
fn a_limit_is_made_changed_and_deleted_by_its_form() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/limits").await.body.contains("There are no limits"));
        let fields = [("name", "db-export"), ("app", "orders"), ("max", "2"), ("limit_key", "customer.id")];
        let made = admin.submit("/limits", &fields).await;
        assert_eq!(made.status, 303, "{}", made.body);
        let path = made.location().to_owned();
        let page = admin.get(&path).await.body;
        assert!(page.contains("0 taken, 2 for each key") && page.contains("customer.id"), "{page}");
        assert!(admin.get("/limits").await.body.contains("db-export"));
        let taken = admin.submit("/limits", &fields).await;
        assert_eq!(taken.status, 422);
        assert!(taken.body.contains("There is a limit of this name already."), "{}", taken.body);

        let edit = format!("{path}/edit");
        let form = admin.get(&edit).await;
        assert!(!form.body.contains("id=\"name\""), "a limit keeps its name");
        let version = form.hidden("version");
        let changed = [("version", version.as_str()), ("max", "5"), ("all_jobs", "yes")];
        assert_eq!(admin.submit(&edit, &changed).await.status, 303);
        let stale = admin.submit(&edit, &[("version", version.as_str()), ("max", "6")]).await;
        assert!(stale.body.contains("Another user has changed this limit"), "{}", stale.body);
        assert!(admin.get(&path).await.body.contains("0 of 5 taken"));
        let wrong = admin.submit(&edit, &[("max", "0"), ("limit_key", "a..b")]).await;
        assert_eq!(wrong.status, 422);
        assert!(wrong.body.contains("must be names with dots between them"), "{}", wrong.body);

        let delete = format!("{path}/delete");
        assert!(admin.get(&delete).await.body.contains("No job that you see names it."));
        assert_eq!(admin.submit(&delete, &[]).await.location(), "/limits");
        assert_eq!(admin.get(&path).await.status, 404);
    });
}

#[test]
fn a_limit_that_a_job_names_is_not_deleted_and_the_job_shows_it() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let made = admin.submit("/limits", &[("name", "db-export"), ("app", "all"), ("max", "2")]).await;
        let path = made.location().to_owned();
        let mut draft = carillon_scheduler::JobDraft::new("orders", "Settle", "settle");
        draft.limits = vec!["db-export".into()];
        draft.priority = 60;
        let job = console.engine.jobs().create(draft, None, &Actor::engine()).await.unwrap();
        let shown = admin.get(&format!("/jobs/{}", job.id)).await.body;
        assert!(shown.contains("db-export") && shown.contains("60 s of head start"), "{shown}");
        assert!(admin.get(&format!("{path}/delete")).await.body.contains("It cannot be deleted"));
        assert_eq!(admin.submit(&format!("{path}/delete"), &[]).await.status, 200);
        // The form of the job keeps its limits.
        let form = admin.get(&format!("/jobs/{}/edit", job.id)).await.body;
        assert!(form.contains("value=\"db-export\""), "{form}");
    });
}
