//! The form of a job without script: errors stand beside their fields, and nothing typed is lost.

use carillon_scheduler::AuditObjectKind;
use carillon_scheduler::ScheduleDraft;
use carillon_scheduler::job::NOTES;
use carillon_store::audit::list::AuditFilter;

use super::client::Console;
use super::run;
use crate::api::jobs::EXPRESSIONS;

/// The fields of a new job.
const FILLED: &[(&str, &str)] = &[
    ("app", "orders"),
    ("name", "Settle"),
    ("handler", "settle"),
    ("params", "first\r\nsecond"),
    ("kind", "cron"),
    ("expression", "0 0 3 * * ?"),
    ("timezone", "Europe/Berlin"),
    ("clock_changes", "xxl"),
    ("catch_up", "latest"),
    ("misfire", "skip"),
    ("misfire_threshold_seconds", "90"),
    ("route", "broadcast"),
    ("block", "cover_early"),
    ("timeout_seconds", "30"),
    ("retries", "2"),
    ("enabled", "yes"),
];

/// The same with other values.
pub fn but<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = FILLED.to_vec();
    for (name, value) in changes {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value));
    }
    fields
}

#[test]
fn a_new_job_is_what_was_filled_in() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin.submit("/jobs", FILLED).await;
        assert_eq!((answer.status, answer.location()), (303, "/jobs/1"));
        let job = console.store.jobs().get(1).await.unwrap().unwrap();
        let json = serde_json::to_value(&job.draft).unwrap();
        for (name, value) in [
            ("params", "first\nsecond"),
            ("catch_up", "latest"),
            ("misfire", "skip"),
            ("route", "broadcast"),
            ("block", "cover_early"),
        ] {
            assert_eq!(json[name], value, "{name}");
        }
        assert_eq!((job.draft.timeout_seconds, job.draft.retries, job.draft.misfire_threshold_seconds), (30, 2, 90));
        assert_eq!(json["schedule"]["clock_changes"], "xxl");
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("Settle is created.") && page.contains("Europe/Berlin"));
        assert!(!admin.get("/jobs/1").await.body.contains("Settle is created."), "a message is shown once");
        let audit = console.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, 1)).await.unwrap();
        assert_eq!((audit.items[0].actor.as_str(), audit.items[0].source.as_str()), ("admin", "127.0.0.1"));
    });
}

// covers: S35
#[test]
fn expressions_are_texts_in_every_field_of_the_form() {
    let notes = NOTES.iter().map(|note| note.member);
    let all: Vec<&str> = ["name", "handler", "description", "params"].into_iter().chain(notes).collect();
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let text = EXPRESSIONS;
        let answer = admin.submit("/jobs", &but(&all.iter().map(|field| (*field, text)).collect::<Vec<_>>())).await;
        assert_eq!((answer.status, answer.location()), (303, "/jobs/1"), "{}", answer.body);
        let job = serde_json::to_value(console.store.jobs().get(1).await.unwrap().unwrap().draft).unwrap();
        for field in &all {
            assert_eq!(job[*field], text, "{field}");
        }
        let shown = text.replace('<', "&#60;").replace('>', "&#62;");
        for path in ["/jobs/1", "/jobs/1/edit", "/jobs"] {
            assert!(admin.get(path).await.body.contains(&shown), "{path}");
        }
        // The form gives back what it was given.
        assert!(admin.get("/jobs/1/edit").await.body.matches(&*shown).count() >= all.len());
    });
}

#[test]
fn each_error_stands_beside_its_field_and_nothing_is_lost() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let fields = but(&[
            ("app", ""),
            ("name", ""),
            ("expression", "0 0 25 * * ?"),
            ("retries", "many"),
            ("timeout_seconds", "-1"),
            ("route", "nearest"),
            ("handler", "<b>\"settle\""),
        ]);
        let answer = admin.submit("/jobs", &fields).await;
        assert_eq!(answer.status, 422);
        let has = |field: &str, text: &str| {
            let found = answer.error(field).unwrap_or_default();
            assert!(found.contains(text), "{field}: {found}");
        };
        has("app", "Choose the app");
        has("name", "must not be empty");
        has("expression", "hour field: 25 is not allowed");
        has("retries", "`many` is not a whole number");
        has("timeout_seconds", "0 to 604800");
        has("route", "allowed: round_robin");
        assert!(answer.body.contains("6 fields are wrong."));
        assert!(answer.body.contains("Cron expression: hour field"));
        for typed in ["value=\"0 0 25 * * ?\"", "value=\"many\"", "first\r\nsecond", "value=\"Europe/Berlin\""] {
            assert!(answer.body.contains(typed), "{typed}");
        }
        assert!(answer.body.contains("value=\"&#60;b&#62;&#34;settle&#34;\""));
        assert_eq!(answer.body.matches("aria-invalid=\"true\"").count(), 6);
        assert!(console.store.jobs().get(1).await.unwrap().is_none());
    });
}

#[test]
fn schedules_that_cannot_be_are_refused_with_their_field() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for (changes, field, text) in [
            (&[("expression", "0 0 0 30 2 ?")][..], "expression", "never fires"),
            (&[("timezone", "Mars/Olympus")], "timezone", "Mars/Olympus"),
            (&[("kind", "fixed_rate"), ("seconds", "0")], "seconds", "1"),
            (&[("kind", "fixed_rate"), ("seconds", "often")], "seconds", "“often” is not a time"),
            (&[("kind", "weekly")], "kind", "no kind of schedule"),
        ] {
            let answer = admin.submit("/jobs", &but(changes)).await;
            let found = answer.error(field).unwrap_or_default();
            assert!(answer.status == 422 && found.contains(text), "{field}: {found}");
        }
    });
}

#[test]
fn the_next_fires_are_shown_before_saving() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin.submit("/jobs", &but(&[("step", "preview")])).await;
        assert_eq!((answer.status, answer.body.matches("data-testid=\"fire\"").count()), (200, 5));
        assert!(console.store.jobs().get(1).await.unwrap().is_none(), "nothing is saved");
        let query = "kind=cron&expression=0+15+10+%3F+*+6%233&timezone=Asia%2FShanghai";
        let fragment = admin.get(&format!("/jobs/preview?{query}")).await.body;
        assert_eq!(fragment.matches("<td>Fri ").count(), 5, "{fragment}");
        assert!(fragment.contains("Next fires, Asia/Shanghai") && fragment.contains(">UTC<"));
        let wrong = admin.get("/jobs/preview?kind=cron&expression=0+0+25+*+*+%3F&timezone=UTC").await.body;
        assert!(wrong.contains("data-field=\"expression\"") && wrong.contains("hour field"));
        let blank = admin.get("/jobs/preview?kind=cron&expression=&timezone=UTC").await.body;
        assert!(!blank.contains("field-error"), "nothing was typed yet");
    });
}

#[test]
fn an_edit_in_between_is_shown_with_both_versions() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::fixed_rate(60)).await;
        let (mine, theirs) = (console.admin().await, console.admin().await);
        let revision = mine.get("/jobs/1/edit").await.hidden("revision");
        let fields = |name: &'static str| but(&[("name", name)]);
        let mut saved = fields("theirs");
        saved.push(("revision", &revision));
        assert_eq!(theirs.submit("/jobs/1/edit", &saved).await.status, 303);

        let mut late = fields("mine");
        late.push(("revision", &revision));
        let conflict = mine.submit("/jobs/1/edit", &late).await;
        assert_eq!(conflict.status, 409);
        assert!(conflict.body.contains("admin saved this job at "));
        assert!(conflict.body.contains("<td>theirs</td><td>mine</td>"));
        assert_eq!(console.store.jobs().get(1).await.unwrap().unwrap().draft.name, "theirs");

        let newer = conflict.hidden("revision");
        let mut again = fields("mine");
        again.push(("revision", &newer));
        assert_eq!(mine.submit("/jobs/1/edit", &again).await.status, 303);
        assert_eq!(console.store.jobs().get(1).await.unwrap().unwrap().draft.name, "mine");
        let mut blind = fields("blind");
        blind.push(("revision", ""));
        assert_eq!(mine.submit("/jobs/1/edit", &blind).await.status, 409, "no edit without its revision");
    });
}

#[test]
fn a_copy_is_filled_in_and_paused() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.params = "<all>".into()).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1/copy").await.body;
        assert!(page.contains("value=\"Close the day (copy)\"") && page.contains("&#60;all&#62;"));
        assert!(page.contains("action=\"/jobs\""));
        let enabled = page.split("name=\"enabled\" value=\"yes\"").nth(1).unwrap();
        assert!(!enabled.starts_with(" checked"));
    });
}
