//! What pages show, and that they show it as text.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::ScheduleDraft;
use carillon_store::app::executors::{Executor, ExecutorSettings};

use super::client::{Console, START};
use super::hostile::{HOSTILE, holds_as_markup};
use super::run;
use crate::browser::pages::lists;

#[test]
fn the_page_of_a_job_says_how_often_its_objective_was_met() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let (plain, prompt) = (console.job(|_| ()).await, console.job(|job| job.start_within_seconds = 60).await);
        assert!(!admin.get(&format!("/jobs/{}", plain.id)).await.body.contains("data-testid=\"objective\""));
        let body = admin.get(&format!("/jobs/{}", prompt.id)).await.body;
        assert!(
            body.contains("data-testid=\"objective\"") && body.contains("In time: 0 of 0 runs of the last day"),
            "{body}"
        );
        let form = admin.get(&format!("/jobs/{}/edit", prompt.id)).await.body;
        assert!(form.contains("id=\"start_within_seconds\""), "{form}");
    });
}

// covers: S28
#[test]
fn every_text_is_shown_as_text() {
    run(async {
        let console = Console::start().await;
        for text in HOSTILE {
            console
                .job(|job| {
                    // Names are shorter, and have no control characters.
                    let name: String = text.chars().filter(|c| !c.is_control()).take(64).collect();
                    (job.name, job.handler, job.params) = (name.clone(), name, text.to_string());
                })
                .await;
        }
        let admin = console.admin().await;
        register(&console, "http://10.0.0.1:1/<script>alert(1)</script>", "<script>alert(1)</script>").await;
        for (index, text) in HOSTILE.iter().enumerate() {
            // What is refused is shown again, beside the reason.
            for (path, fields) in [
                ("/apps", vec![("name", format!("fine-{index}")), ("title", text.to_string())]),
                ("/apps", vec![("name", text.to_string()), ("title", text.to_string())]),
                ("/users", vec![("name", text.to_string())]),
                ("/calendars", vec![("name", text.to_string()), ("days", text.to_string())]),
                ("/pauses", vec![("app", "1".to_owned()), ("note", text.to_string())]),
                (
                    "/account/tokens",
                    vec![
                        ("name", text.to_string()),
                        ("role", "viewer".into()),
                        ("apps", "all".into()),
                        ("own_password", console.password.clone()),
                    ],
                ),
                ("/alerts/rules", vec![("name", text.to_string()), ("kinds", "failed".into())]),
                ("/jobs", vec![("app", text.to_string()), ("name", text.to_string()), ("cron", text.to_string())]),
            ] {
                let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let answer = admin.submit(path, &fields).await;
                assert!(answer.status < 500, "{path}: {} with {text}", answer.status);
                assert!(!holds_as_markup(&answer.body, text), "POST {path}: {text}");
            }
            let job = format!("/jobs/{}", index + 1);
            let run = admin.submit(&format!("{job}/run"), &[("key", text), ("params", text)]).await;
            let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
            let mut paths = vec![
                run.location().to_owned(),
                format!("{}/kill", run.location()),
                format!("/jobs?text={encoded}&app={encoded}"),
                format!("/runs?app={encoded}&from={encoded}"),
                format!("/misfires?job={encoded}&app={encoded}&from={encoded}&after={encoded}"),
                format!("/gaps?job={encoded}"),
                format!("/audit?actor={encoded}&source={encoded}"),
                format!("{job}/explain?at={encoded}"),
                format!("/login?next=/{encoded}"),
                format!("/apps/new?name={encoded}"),
            ];
            for page in ["", "/edit", "/copy", "/run", "/delete", "/backfill", "/explain?at=2025-10-09", "/retention"] {
                paths.push(format!("{job}{page}"));
            }
            for path in paths.iter().filter(|path| path.starts_with('/')) {
                let answer = admin.get(path).await;
                assert!([200, 303, 400, 404].contains(&answer.status), "{path}: {}", answer.status);
                assert!(!holds_as_markup(&answer.body, text), "{path}: {text}");
            }
        }
        for path in lists(|_| true) {
            let body = admin.get(&path).await.body;
            let found: Vec<_> = HOSTILE.iter().filter(|text| holds_as_markup(&body, text)).collect();
            assert!(found.is_empty(), "{path}: {found:?}");
        }
    });
}

pub async fn register(console: &Console, address: &str, app: &str) {
    let executor = Executor {
        app: app.into(),
        address: address.into(),
        boot_id: None,
        capabilities: None,
        journal_id: None,
        token_id: None,
        registered_at: START,
        seen_at: START,
        expires_at: START + 90_000,
        announced: ExecutorSettings::default(),
        set: ExecutorSettings::default(),
        manual_since: None,
        draining_since: None,
    };
    console.store.apps().register_executor(&executor).await.unwrap();
}

#[test]
fn executors_that_no_app_has_wait_for_one() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        register(&console, "http://10.0.0.1:9999/", "newcomers").await;
        register(&console, "http://10.0.0.2:9999/", "orders").await;
        let page = admin.get("/apps").await.body;
        assert!(page.contains("no such app") && page.contains("value=\"newcomers\""));
        assert!(admin.get("/").await.body.contains("Create the app newcomers"), "the first steps lead there");
        admin.submit("/apps", &[("name", "newcomers")]).await;
        let page = admin.get("/apps").await.body;
        assert!(!page.contains("no such app"));
        assert_eq!(page.matches("data-state=\"online\"").count(), 2);
        console.advance_minutes(2);
        let page = admin.get("/apps").await.body;
        assert_eq!(page.matches("data-state=\"offline\"").count(), 2);
    });
}

#[test]
fn the_list_is_what_its_address_says() {
    run(async {
        let console = Console::start().await;
        for number in 0..60 {
            console
                .job(|job| {
                    job.name = format!("job {number}");
                    job.enabled = number % 2 == 0;
                    if number % 3 == 0 {
                        job.schedule = ScheduleDraft::fixed_rate(60);
                    }
                })
                .await;
        }
        let admin = console.admin().await;
        let rows = async |path: &str| admin.get(path).await.body.matches("data-job-id=").count();
        assert_eq!(rows("/jobs").await, 50);
        assert_eq!(rows("/jobs?state=paused").await, 30);
        assert_eq!(rows("/jobs?kind=fixed_rate&state=enabled").await, 10);
        assert_eq!(rows("/jobs?text=JOB%205").await, 11);
        assert_eq!(rows("/jobs?text=%25").await, 0, "a percent sign is a percent sign");
        assert_eq!(rows("/jobs?app=nobody").await, 0);
        let page = admin.get("/jobs?text=job").await.body;
        assert!(page.contains("60 jobs"));
        let next = page.split("href=\"/jobs?").nth(1).unwrap().split('"').next().unwrap().replace("&#38;", "&");
        assert!(next.starts_with("text=job&after="), "{next}");
        assert_eq!(rows(&format!("/jobs?{next}")).await, 10);
        assert!(admin.get("/jobs?text=nothing").await.body.contains("No job matches the filter"));
    });
}

#[test]
fn runs_are_found_by_their_job_state_and_cause() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        for key in ["a", "b", "c"] {
            admin.submit("/jobs/1/run", &[("key", key)]).await;
        }
        let rows = async |path: &str| admin.get(path).await.body.matches("<tr data-key").count();
        assert_eq!(rows("/runs").await, 3);
        assert_eq!(rows("/runs?job=1&state=open&cause=manual").await, 3);
        assert_eq!(rows("/runs?job=2").await, 0);
        assert_eq!(rows("/runs?state=trouble").await, 0);
        assert_eq!(rows("/runs?from=2025-10-09T08:00&to=2025-10-09T09:00").await, 3);
        assert_eq!(rows("/runs?from=2025-10-09T09:00").await, 0);
        assert!(admin.get("/runs?job=1").await.body.contains("of <a href=\"/jobs/1\">Close the day</a>"));
    });
}

#[test]
fn a_page_names_a_few_pauses_and_counts_the_others() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap().id.to_string();
        for (app, note) in [(&*app, "one"), (&app, "two"), (&app, "three"), ("all", "everything"), (&app, "five")] {
            admin.submit("/pauses", &[("app", app), ("note", note)]).await;
        }
        console.engine.services.pause_refresher.step().await;
        let page = admin.get("/jobs").await.body;
        assert_eq!(page.matches("data-testid=\"paused\"").count(), 3);
        let first = page.split("data-testid=\"paused\"").nth(1).unwrap();
        assert!(first.contains("everything") && page.contains("2 more pauses are in force."), "{page}");
    });
}

#[test]
fn an_empty_console_leads_the_first_steps() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let page = admin.get("/").await.body;
        assert!(
            page.contains("data-testid=\"first-steps\"") && page.contains(&format!("CARILLON_ADMIN={}", console.url))
        );
        assert!(!page.contains(&console.config.access_token), "the token itself is not shown");
        for (path, text) in [
            ("/jobs", "There are no jobs yet"),
            ("/runs", "There are no runs yet"),
            ("/apps", "No executor has registered yet"),
        ] {
            assert!(admin.get(path).await.body.contains(text), "{path}");
        }
        console.job(|_| ()).await;
        admin.submit("/jobs/1/run", &[("key", "k")]).await;
        assert!(!admin.get("/").await.body.contains("first-steps"));
    });
}

#[test]
fn the_log_for_the_script_says_why_there_is_none() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let run = admin.submit("/jobs/1/run", &[("key", "k")]).await.location().to_owned();
        let log: serde_json::Value = serde_json::from_str(&admin.get(&format!("{run}/log?from=1")).await.body).unwrap();
        assert_eq!((&log["from"], &log["end"], log["lines"].as_array().unwrap().len()), (&1.into(), &false.into(), 0));
        let note = "The log begins when the run is sent.";
        assert_eq!(log["note"], note);
        assert!(admin.get(&run).await.body.contains(note));
        assert!(
            !admin.refresh(&run).await.body.contains(note),
            "what keeps the page fresh does not read the log again"
        );
        assert_eq!(admin.get("/runs/99999/log").await.status, 404);
    });
}
