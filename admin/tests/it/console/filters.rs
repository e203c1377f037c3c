//! A filter that cannot be used is named; it is never ignored.

use carillon_scheduler::{KindDraft, ScheduleDraft};

use super::client::Console;
use super::run;

// covers: A9
#[test]
fn a_filter_of_runs_that_cannot_be_read_is_named() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        admin.submit("/jobs/1/run", &[("key", "k")]).await;
        for (query, text) in [
            ("job=abc", "Job: “abc” is no id of a job"),
            ("from=zzz", "From: “zzz” is no time"),
            ("to=2026-02-31T10:00", "To: “2026-02-31T10:00” is no time"),
            ("state=broken", "State: “broken” is no state of a run"),
            ("cause=magic", "Cause: “magic” is no cause of a run"),
        ] {
            let answer = admin.get(&format!("/runs?{query}")).await;
            assert_eq!(answer.status, 400, "{query}");
            assert!(answer.body.contains(text), "{query}: {text}");
            assert!(!answer.body.contains("data-run-id"), "{query}: no run");
        }
        let both = admin.get("/runs?job=abc&from=zzz").await.body;
        assert!(both.contains("“abc”") && both.contains("“zzz”"));
        assert!(both.contains("value=\"abc\""), "what was typed stays");
        assert_eq!(admin.get("/runs?job=&from=").await.status, 200);
    });
}

#[test]
fn runs_and_reports_are_asked_for_by_the_name_of_a_job() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.name = "Settle".into()).await;
        console.job(|job| job.name = "Report".into()).await;
        let admin = console.admin().await;
        admin.submit("/jobs/1/run", &[("key", "k")]).await;
        let rows = async |query: &str| admin.get(query).await.body.matches("data-run-id=").count();
        assert_eq!((rows("/runs?job=Settle").await, rows("/runs?job=Report").await), (1, 0));
        assert_eq!(rows("/runs?job=%231").await, 1, "as the list shows its id");
        assert_eq!(admin.get("/reports?job=Settle").await.status, 200);
        assert_eq!(admin.get("/reports/export?job=Settle").await.status, 200);
        let failed = [("step", "ask"), ("action", "rerun"), ("all", "yes"), ("state", "trouble"), ("job", "Settle")];
        let question = admin.submit("/runs/bulk", &failed).await;
        assert_eq!(question.status, 200);
        assert!(question.body.contains("name=\"job\" value=\"1\""), "{}", question.body);
    });
}

// covers: A9
#[test]
fn every_kind_of_schedule_can_be_asked_for() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::fixed_delay(60)).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs").await.body;
        for kind in KindDraft::WORDS {
            assert!(page.contains(&format!("<option value=\"{kind}\"")), "{kind}");
        }
        let found = admin.get("/jobs?kind=fixed_delay").await.body;
        assert!(found.contains("data-job-id=\"1\""));
        for (query, text) in [
            ("kind=weekly", "Schedule: “weekly” is no kind of schedule"),
            ("state=on", "State: “on” is no state of a job"),
        ] {
            let answer = admin.get(&format!("/jobs?{query}")).await;
            assert_eq!(answer.status, 400, "{query}");
            assert!(answer.body.contains(text), "{query}: {text}");
            assert!(!answer.body.contains("data-job-id"), "{query}: no job");
        }
    });
}

// covers: A9
#[test]
fn a_zone_that_does_not_exist_is_named() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let fields = [("zone", "Mars/Phobos"), ("next", "/jobs")];
        let answer = admin.submit("/preferences", &fields).await;
        assert_eq!((answer.status, answer.location()), (303, "/jobs"));
        let page = admin.get("/jobs").await.body;
        assert!(page.contains("Mars/Phobos is not a time zone"), "{page}");
        assert!(page.contains("Times in UTC"));
    });
}

// covers: B19
#[test]
fn the_search_finds_runs_by_number_jobs_apps_and_users_that_one_may_see() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        console.job(|job| job.name = "Archive".to_owned()).await;
        let admin = console.admin().await;
        let started = admin.submit("/jobs/1/run", &[("key", "k")]).await;
        let run_page = started.location().to_owned();
        let run_id = run_page.rsplit('/').next().unwrap();
        let to = async |text: &str| admin.get(&format!("/search?text={text}")).await.location().to_owned();
        assert_eq!(to("archive").await, "/jobs/2");
        assert_eq!(to("%232").await, "/jobs/2", "no run has the number");
        assert_eq!(to("orders").await, "/jobs?app=orders");
        assert_eq!(to("admin").await, "/users/1");
        assert_eq!(to("").await, "/jobs");
        let both = admin.get(&format!("/search?text=%23{run_id}")).await;
        assert!(
            both.body.contains(&format!("href=\"{run_page}\"")) && both.body.contains("href=\"/jobs/1\""),
            "{}",
            both.body
        );
        let none = admin.get("/search?text=%3Cb%3E").await.body;
        assert!(none.contains("Nothing matches") && none.contains("&#60;b&#62;"));
    });
}
