//! One action for many rows of a list, without script: the number is shown, confirmed, and what was refused is named.

use carillon_scheduler::ScheduleDraft;
use sea_orm::ConnectionTrait as _;

use super::client::Console;
use super::run;

#[test]
fn selected_jobs_are_counted_confirmed_and_paused() {
    run(async {
        let console = Console::start().await;
        for _ in 0..3 {
            console.job(|job| job.schedule = ScheduleDraft::fixed_rate(60)).await;
        }
        let admin = console.admin().await;
        let list = admin.get("/jobs").await.body;
        assert!(list.contains("name=\"id\" value=\"1\" form=\"bulk\"") && list.contains("All that match (3 jobs)"));
        let question =
            admin.submit("/jobs/bulk", &[("step", "ask"), ("action", "pause"), ("id", "1"), ("id", "2")]).await;
        assert!(question.body.contains("Pause 2 jobs?"), "{}", question.body);
        let key = question.hidden("key");
        let fields = [
            ("step", "do"),
            ("action", "pause"),
            ("id", "1"),
            ("id", "2"),
            ("count", "2"),
            ("key", &key),
            ("note", "release"),
        ];
        let wrong = admin.submit("/jobs/bulk", &[&fields[..], &[("until", "2000-01-01T00:00")][..]].concat()).await;
        assert_eq!((wrong.status, wrong.error("until")), (422, Some("must be later than now")));
        let done = admin.submit("/jobs/bulk", &fields).await;
        assert_eq!((done.status, done.location()), (303, "/jobs?"));
        let page = admin.get("/jobs").await.body;
        assert!(page.contains("Done: Pause 2 jobs.") && page.contains("release"), "{page}");
        assert!(!console.store.jobs().get(2).await.unwrap().unwrap().draft.enabled);
        assert!(console.store.jobs().get(3).await.unwrap().unwrap().draft.enabled);
    });
}

#[test]
fn all_that_match_are_changed_unless_their_number_has_changed() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.tags = vec!["night".into()]).await;
        console.job(|job| job.tags = vec!["night".into()]).await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let ask = [("step", "ask"), ("action", "delete"), ("all", "yes"), ("tag", "night")];
        let question = admin.submit("/jobs/bulk", &ask).await.body;
        assert!(question.contains("Delete 2 jobs?") && question.contains("name=\"tag\" value=\"night\""), "{question}");
        let act = |count: &'static str| {
            [("step", "do"), ("action", "delete"), ("all", "yes"), ("tag", "night"), ("count", count)]
        };
        let other = admin.submit("/jobs/bulk", &act("1")).await;
        assert_eq!(other.status, 422);
        assert!(other.body.contains("Nothing was done"), "{}", other.body);
        assert_eq!(admin.submit("/jobs/bulk", &act("2")).await.location(), "/jobs?tag=night");
        assert!(
            console.store.jobs().get(1).await.unwrap().is_none()
                && console.store.jobs().get(3).await.unwrap().is_some()
        );
        let nothing = admin.submit("/jobs/bulk", &[("step", "ask"), ("action", "delete")]).await;
        assert_eq!(nothing.status, 303, "nothing is selected");
        assert_eq!(admin.submit("/jobs/bulk", &[("action", "explode"), ("id", "3")]).await.status, 400);
    });
}

#[test]
fn what_is_refused_is_named_with_its_reason() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let fields = [("step", "do"), ("action", "run"), ("id", "1"), ("id", "99"), ("count", "2")];
        let page = admin.submit("/jobs/bulk", &fields).await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains("1 of 2 done") && page.body.contains("there is no job 99"), "{}", page.body);
        let runs = console
            .store
            .runs()
            .list(&carillon_store::RunFilter { limit: 9, ..Default::default() })
            .await
            .unwrap()
            .items;
        assert_eq!(runs.len(), 1);
        let file = console.config.data_dir.join("carillon.db");
        let database = sea_orm::Database::connect(format!("sqlite://{}", file.display())).await.unwrap();
        database.execute_unprepared("UPDATE run SET state = 10").await.unwrap();
        let form = admin.get("/runs/rerun?job=1").await.body;
        assert!(form.contains("name=\"job\" value=\"1\"") && form.contains("name=\"from\" type=\"datetime-local\""));
        let ask = [("step", "ask"), ("action", "rerun"), ("all", "yes"), ("state", "trouble"), ("job", "1")];
        let question = admin.submit("/runs/bulk", &ask).await.body;
        assert!(question.contains("Run again 1 run?"), "{question}");
        let act = [
            ("step", "do"),
            ("action", "rerun"),
            ("all", "yes"),
            ("state", "trouble"),
            ("job", "1"),
            ("count", "1"),
            ("key", "k"),
        ];
        assert_eq!(admin.submit("/runs/bulk", &act).await.location(), "/runs?job=1&state=trouble");
        assert!(console.store.runs().newest_run().await.unwrap() > runs[0].id);
    });
}

#[test]
fn a_job_is_paused_with_a_note_and_shows_its_labels() {
    run(async {
        let console = Console::start().await;
        console
            .job(|job| {
                job.description = "Closes the books.\nCall ada.".into();
                job.owner = "ada".into();
                job.tags = vec!["night".into()];
                job.schedule = ScheduleDraft::fixed_rate(60);
            })
            .await;
        let admin = console.admin().await;
        assert!(admin.get("/jobs/1/pause").await.body.contains("pause-form"));
        let fields = [("next", "/jobs/1"), ("note", "<b>release</b>"), ("until", "2100-01-01T00:00")];
        let far = admin.submit("/jobs/1/disable", &fields).await;
        assert_eq!((far.status, far.error("until")), (422, Some("is more than a year ahead")));
        assert_eq!(admin.submit("/jobs/1/disable", &fields[..2]).await.location(), "/jobs/1");
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("&#60;b&#62;release") && page.contains("Paused by admin"), "{page}");
        assert!(page.contains("Closes the books.") && page.contains("href=\"/jobs?tag=night\""));
        let list = admin.get("/jobs?tag=night&owner=ada&sort=name").await.body;
        assert!(list.contains("data-job-id=\"1\"") && list.contains("paused by admin"));
        for (query, text) in [
            ("app=nowhere", "App: there is no app “nowhere”"),
            ("tag=Night", "Tag: &#39;N&#39; is not allowed"),
            ("sort=age", "Order: “age” is no order of jobs"),
            ("result=odd", "Last result: “odd” is no result of a run"),
        ] {
            let answer = admin.get(&format!("/jobs?{query}")).await;
            assert_eq!(answer.status, 400, "{query}");
            assert!(answer.body.contains(text), "{query}: {}", answer.body);
        }
    });
}
