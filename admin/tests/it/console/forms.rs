//! The main path without script: every form is sent, its errors stand beside its fields, and nothing typed is lost.

use carillon_scheduler::{RunState, ScheduleDraft};

use super::run;
use super::visitor::Console;

/// A job as somebody fills it in.
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
fn but<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
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
        let job = console.store.job(1).await.unwrap().unwrap();
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
        assert_eq!(
            (
                job.draft.timeout_seconds,
                job.draft.retries,
                job.draft.misfire_threshold_seconds
            ),
            (30, 2, 90)
        );
        assert_eq!(json["schedule"]["clock_changes"], "xxl");
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("Settle is made.") && page.contains("Europe/Berlin"));
        assert!(
            !admin.get("/jobs/1").await.body.contains("Settle is made."),
            "a message is shown once"
        );
        let audit = console
            .store
            .audit_entries(Some(("job", 1)), None, 10)
            .await
            .unwrap();
        assert_eq!(
            (
                audit.items[0].actor.as_str(),
                audit.items[0].source.as_str()
            ),
            ("admin", "127.0.0.1")
        );
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
        assert!(answer.body.contains("6 things are wrong."));
        assert!(answer.body.contains("Cron expression: hour field"));
        for typed in [
            "value=\"0 0 25 * * ?\"",
            "value=\"many\"",
            "first\r\nsecond",
            "value=\"Europe/Berlin\"",
        ] {
            assert!(answer.body.contains(typed), "{typed}");
        }
        assert!(
            answer
                .body
                .contains("value=\"&#60;b&#62;&#34;settle&#34;\"")
        );
        assert_eq!(answer.body.matches("aria-invalid=\"true\"").count(), 6);
        assert!(console.store.job(1).await.unwrap().is_none());
    });
}

#[test]
fn schedules_that_cannot_be_are_refused_with_their_field() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for (changes, field, text) in [
            (
                &[("expression", "0 0 0 30 2 ?")][..],
                "expression",
                "never fires",
            ),
            (&[("timezone", "Mars/Olympus")], "timezone", "Mars/Olympus"),
            (&[("kind", "fixed_rate"), ("seconds", "0")], "seconds", "1"),
            (
                &[("kind", "fixed_rate"), ("seconds", "often")],
                "seconds",
                "`often`",
            ),
            (&[("kind", "daily")], "kind", "no kind of schedule"),
        ] {
            let answer = admin.submit("/jobs", &but(changes)).await;
            let found = answer.error(field).unwrap_or_default();
            assert!(
                answer.status == 422 && found.contains(text),
                "{field}: {found}"
            );
        }
    });
}

#[test]
fn the_next_fires_are_shown_before_saving() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin.submit("/jobs", &but(&[("step", "preview")])).await;
        assert_eq!(
            (
                answer.status,
                answer.body.matches("data-testid=\"fire\"").count()
            ),
            (200, 5)
        );
        assert!(
            console.store.job(1).await.unwrap().is_none(),
            "nothing is saved"
        );
        let query = "kind=cron&expression=0+15+10+%3F+*+6%233&timezone=Asia%2FShanghai";
        let fragment = admin.get(&format!("/jobs/preview?{query}")).await.body;
        assert_eq!(fragment.matches("<td>Fri ").count(), 5, "{fragment}");
        assert!(fragment.contains("Next fires, Asia/Shanghai") && fragment.contains(">UTC<"));
        let wrong = admin
            .get("/jobs/preview?kind=cron&expression=0+0+25+*+*+%3F&timezone=UTC")
            .await
            .body;
        assert!(wrong.contains("data-field=\"expression\"") && wrong.contains("hour field"));
        let blank = admin
            .get("/jobs/preview?kind=cron&expression=&timezone=UTC")
            .await
            .body;
        assert!(!blank.contains("field-error"), "nothing was typed yet");
    });
}

#[test]
fn an_edit_in_between_is_told_with_both_versions() {
    run(async {
        let console = Console::start().await;
        console
            .job(|job| job.schedule = ScheduleDraft::FixedRate { seconds: 60 })
            .await;
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
        assert!(conflict.body.contains("Somebody else saved this job"));
        assert!(conflict.body.contains("<td>theirs</td><td>mine</td>"));
        assert_eq!(
            console.store.job(1).await.unwrap().unwrap().draft.name,
            "theirs"
        );

        let newer = conflict.hidden("revision");
        let mut again = fields("mine");
        again.push(("revision", &newer));
        assert_eq!(mine.submit("/jobs/1/edit", &again).await.status, 303);
        assert_eq!(
            console.store.job(1).await.unwrap().unwrap().draft.name,
            "mine"
        );
        let mut blind = fields("blind");
        blind.push(("revision", ""));
        assert_eq!(
            mine.submit("/jobs/1/edit", &blind).await.status,
            409,
            "no edit without its revision"
        );
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

#[test]
fn pause_resume_and_delete_lead_back_with_a_message() {
    run(async {
        let console = Console::start().await;
        console
            .job(|job| job.schedule = ScheduleDraft::FixedRate { seconds: 60 })
            .await;
        let admin = console.admin().await;
        let next = [("next", "/jobs?app=orders")];
        let answer = admin.submit("/jobs/1/disable", &next).await;
        assert_eq!(
            (answer.status, answer.location()),
            (303, "/jobs?app=orders")
        );
        let page = admin.get("/jobs?app=orders").await.body;
        assert!(
            page.contains("Close the day is paused.") && page.contains("data-state=\"paused\"")
        );
        admin.submit("/jobs/1/enable", &next).await;
        assert!(console.store.job(1).await.unwrap().unwrap().draft.enabled);

        let question = admin.get("/jobs/1/delete").await.body;
        assert!(question.contains("Delete Close the day?"));
        assert!(
            console.store.job(1).await.unwrap().is_some(),
            "asking deletes nothing"
        );
        let answer = admin.submit("/jobs/1/delete", &[]).await;
        assert_eq!(answer.location(), "/jobs");
        assert!(console.store.job(1).await.unwrap().is_none());
        assert_eq!(admin.submit("/jobs/1/delete", &[]).await.status, 404);
        assert_eq!(admin.submit("/jobs/1/enable", &[]).await.status, 404);
    });
}

#[test]
fn a_run_by_hand_is_made_once_however_often_it_is_sent() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.params = "usual".into()).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1/run").await;
        assert!(page.body.contains("No executor of orders is online"));
        let key = page.hidden("key");
        let fields = [("key", key.as_str()), ("params", "special")];
        let (first, second) = (
            admin.submit("/jobs/1/run", &fields).await,
            admin.submit("/jobs/1/run", &fields).await,
        );
        assert_eq!((first.status, first.location()), (303, second.location()));
        let id = first
            .location()
            .strip_prefix("/runs/")
            .unwrap()
            .parse()
            .unwrap();
        let made = console.store.run(id).await.unwrap().unwrap();
        assert_eq!(
            (made.params.as_deref(), made.state),
            (Some("special"), RunState::Claimed)
        );
        let page = admin.get(first.location()).await.body;
        for text in [
            "given for this run",
            "special",
            "by hand",
            "The log begins when the run is sent.",
        ] {
            assert!(page.contains(text), "{text}");
        }
        assert!(
            admin
                .get(&format!("/jobs/1/run?like={id}"))
                .await
                .body
                .contains(">\nspecial</textarea>")
        );
        let other = admin.get("/jobs/1/run").await.hidden("key");
        assert_ne!(
            admin
                .submit("/jobs/1/run", &[("key", &other)])
                .await
                .location(),
            first.location()
        );
    });
}

#[test]
fn a_run_only_goes_where_an_executor_is_and_takes_no_more_than_fits() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let foreign = [("key", "a"), ("address", "http://169.254.169.254/")];
        let answer = admin.submit("/jobs/1/run", &foreign).await;
        assert!(answer.status == 422 && answer.error("address").unwrap().contains("not online"));
        let long = "ä".repeat(40_000);
        let answer = admin
            .submit("/jobs/1/run", &[("key", "b"), ("params", &long)])
            .await;
        assert!(answer.status == 422 && answer.error("params").unwrap().contains("80000 bytes"));
        assert!(answer.body.contains(&long), "nothing typed is lost");
        assert_eq!(console.store.newest_run().await.unwrap(), 0);
    });
}

#[test]
fn a_kill_asks_first_and_cancels_what_was_not_sent() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let run = admin
            .submit("/jobs/1/run", &[("key", "k")])
            .await
            .location()
            .to_owned();
        assert!(
            admin
                .get(&run)
                .await
                .body
                .contains(&format!("href=\"{run}/kill\""))
        );
        assert!(
            admin
                .get(&format!("{run}/kill"))
                .await
                .body
                .contains("Kill the run")
        );
        let answer = admin.submit(&format!("{run}/kill"), &[]).await;
        assert_eq!((answer.status, answer.location()), (303, run.as_str()));
        let page = admin.get(&run).await.body;
        assert!(page.contains("The run is cancelled; it had not been sent."));
        assert!(page.contains("data-state=\"cancelled\"") && !page.contains("/kill\""));
        assert!(page.contains("There is no log"));
    });
}

#[test]
fn an_app_is_made_once() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin
            .submit("/apps", &[("name", "billing"), ("title", "")])
            .await;
        assert_eq!((answer.status, answer.location()), (303, "/apps"));
        let again = admin
            .submit("/apps", &[("name", "billing"), ("title", "<i>")])
            .await;
        assert!(again.status == 422 && again.error("name").unwrap().contains("already"));
        let wrong = admin.submit("/apps", &[("name", "a b")]).await;
        assert!(wrong.error("name").is_some());
        assert_eq!(
            console
                .store
                .app_by_name("billing")
                .await
                .unwrap()
                .unwrap()
                .title,
            "billing"
        );
    });
}

#[test]
fn colours_and_zone_are_kept_and_lead_back() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let answer = admin
            .submit(
                "/preferences",
                &[("theme", "dark"), ("next", "/jobs?text=a")],
            )
            .await;
        assert_eq!(answer.location(), "/jobs?text=a");
        admin
            .submit(
                "/preferences",
                &[("zone", "Asia/Tokyo"), ("next", "//evil.example")],
            )
            .await;
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("data-theme=\"dark\"") && page.contains("Times in Asia/Tokyo"));
        admin
            .submit("/preferences", &[("zone", "<script>"), ("theme", "\"x")])
            .await;
        assert!(
            admin.get("/").await.body.contains("data-theme=\"dark\""),
            "what is no choice changes nothing"
        );
    });
}
