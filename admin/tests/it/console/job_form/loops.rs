//! The form and the page of a best-effort job.

use carillon_scheduler::{Durability, KindDraft};

use super::client::Console;
use super::forms::but;
use super::run;

/// What a best-effort job may have, and a period in milliseconds.
const BEST_EFFORT: [(&str, &str); 8] = [
    ("durability", "best_effort"),
    ("kind", "fixed_rate"),
    ("seconds", "50ms"),
    ("catch_up", "all"),
    ("misfire", "fire_once"),
    ("route", "round_robin"),
    ("retries", "0"),
    ("revision", "1"),
];

#[test]
fn a_best_effort_job_is_saved_with_its_period_and_shows_its_loop() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let saved = admin.submit("/jobs/1/edit", &but(&BEST_EFFORT)).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
        let draft = console.store.jobs().get(job.id).await.unwrap().unwrap().draft;
        assert_eq!(
            (draft.durability, draft.schedule.kind),
            (Durability::BestEffort, KindDraft::FixedPeriod { milliseconds: 50 })
        );
        let form = admin.get("/jobs/1/edit").await.body;
        for shown in ["value=\"50ms\"", "<option value=\"best_effort\" selected>"] {
            assert!(form.contains(shown), "{shown}: {form}");
        }
        let page = admin.get("/jobs/1").await.body;
        for shown in [
            "every 50 ms",
            "data-testid=\"loop\"",
            "waiting for an executor",
            "The last calls are not known: no executor has the loop",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        for hidden in ["<dt>Misfire", "<dt>Overlap", "<dt>Block strategy"] {
            assert!(!page.contains(hidden), "{hidden}: {page}");
        }
    });
}

#[test]
fn each_fault_of_a_best_effort_job_is_at_its_field() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let with = |changes: &[(&'static str, &'static str)]| {
            let mut fields = but(&BEST_EFFORT);
            for (name, value) in changes {
                fields.retain(|(field, _)| field != name);
                fields.push((name, value));
            }
            fields
        };
        for (changes, field) in [
            (&[("seconds", "10ms")][..], "seconds"),
            (&[("durability", "durable")], "seconds"),
            (&[("kind", "none")], "kind"),
            (&[("runs", "http"), ("http_url", "http://a.example/")], "runs"),
            (&[("retries", "1")], "retries"),
            (&[("misfire", "skip")], "misfire"),
            (&[("overlap", "skip")], "overlap"),
            (&[("priority", "5")], "priority"),
        ] {
            let refused = admin.submit("/jobs/1/edit", &with(changes)).await;
            assert_eq!(refused.status, 422, "{field}");
            let errors = refused.body.split("data-testid=\"errors\"").nth(1).unwrap_or_default();
            let errors = errors.split("</ul>").next().unwrap_or_default();
            let target = if field == "kind" {
                "kind-cron"
            } else if field == "runs" {
                "runs-handler"
            } else {
                field
            };
            assert!(errors.contains(&format!("href=\"#{target}\"")), "{field}: {errors}");
        }
    });
}
