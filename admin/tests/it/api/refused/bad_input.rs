//! Whatever is wrong is named, with what would be right.

use carillon_testkit::Answer;
use serde_json::{Value, json};

use crate::api::client::{Api, api, job};

async fn told(api: &Api, members: Value) -> String {
    api.post("/jobs", job(members)).await.error()
}

fn cron(expression: &str, timezone: &str) -> Value {
    json!({"schedule": {"kind": "cron", "expression": expression, "timezone": timezone}})
}

// covers: S33
#[test]
fn wrong_members_are_named() {
    api(async |api| {
        api.job(json!({})).await;
        for (members, start) in [
            (json!({"shedule": {}}), "shedule: there is no member `shedule`; expected one of `app`"),
            (json!({"app": "nobody"}), "app: there is no app `nobody`; create it first (POST /api/v1/apps)"),
            (json!({"app": "x"}), "app: an app name has 4 to 64 characters, this has 1"),
            (json!({"name": ""}), "name: must not be empty; 1 to 64 characters"),
            (json!({"name": null}), "name: invalid type: null, expected a string"),
            (json!({"handler": " "}), "handler: must not be empty; 1 to 255 characters"),
            (json!({"handler": "a\nb"}), "handler: must be one line without control characters"),
            (json!({"params": "x".repeat(65_537)}), "params: has 65537 bytes; at most 65536 (64 KiB) are allowed"),
            (json!({"params": {"a": 1}}), "params: invalid type: map, expected a string"),
            (json!({"retries": "3"}), "retries: invalid type: string \"3\", expected a whole number"),
            (json!({"retries": 101}), "retries: 101 is not allowed; 0 to 100"),
            (json!({"timeout_seconds": -1}), "timeout_seconds: -1 is not allowed; 0 to 604800"),
            (json!({"enabled": "yes"}), "enabled: invalid type: string \"yes\", expected a boolean"),
            (
                json!({"route": "least"}),
                "route: `least` is not a route; allowed: round_robin, first, random, broadcast, last, consistent_hash, least_frequently_used, least_recently_used, failover, busy_over, weighted, least_active, sticky, label",
            ),
            (json!({"block": "fifo"}), "block: `fifo` is not a block strategy; allowed: serial"),
            (json!({"catch_up": "none"}), "catch_up: `none` is not a catch-up; allowed: all, latest"),
            (
                json!({"misfire": "fire_some"}),
                "misfire: `fire_some` is not a misfire policy; allowed: fire_once, skip, fire_all, fire_within",
            ),
        ] {
            let told = told(api, members).await;
            assert!(told.starts_with(&format!("400 invalid {start}")), "{told}\nwanted: {start}");
        }
        assert_eq!(api.get("/jobs").await.column("id").len(), 1);
    });
}

// covers: S33
#[test]
fn wrong_schedules_are_named_by_their_member() {
    api(async |api| {
        api.job(json!({})).await;
        let schedule = |schedule: Value| json!({"schedule": schedule});
        for (members, start) in [
            (cron("0 0 25 * * ?", "UTC"), "schedule.expression: "),
            (cron("* * * * *", "UTC"), "schedule.expression: "),
            (cron("0 0 0 30 2 ?", "UTC"), "schedule.expression: `0 0 0 30 2 ?` never fires"),
            (cron("* * * * * ?", "Mars/Olympus"), "schedule.timezone: "),
            (
                schedule(json!({"kind": "weekly"})),
                "schedule.kind: `weekly` is not a kind; allowed: none, cron, unix_cron, fixed_rate, fixed_delay, once, daily",
            ),
            (schedule(json!({"kind": "cron"})), "schedule.expression: missing; kind cron needs it"),
            (schedule(json!({"seconds": 5})), "schedule.kind: is missing; it is required"),
            (schedule(json!({"kind": "fixed_rate", "seconds": 0})), "schedule.seconds: "),
            (
                schedule(json!({"kind": "fixed_rate", "seconds": "5"})),
                "schedule.seconds: invalid type: string \"5\", expected a whole number",
            ),
            (
                schedule(json!({"kind": "none", "seconds": 5})),
                "schedule.seconds: a schedule of kind none does not have it",
            ),
            (
                schedule(json!({"kind": "none", "zone": 5})),
                "schedule.zone: there is no member `zone`; expected one of `kind`",
            ),
            (schedule(json!("* * * * * ?")), "schedule: invalid type: string"),
            (schedule(json!(null)), "schedule: invalid type: null"),
        ] {
            let told = told(api, members).await;
            assert!(told.starts_with(&format!("400 invalid {start}")), "{told}\nwanted: {start}");
        }
    });
}

#[test]
fn a_body_that_is_no_json_is_told_where() {
    api(async |api| {
        let told = async |body: &'static str| api.post_text("/jobs", body).await.error();
        assert_eq!(told("").await, "400 invalid_json the body is empty; send a job as JSON");
        let broken = told("{\"app\": \"billing\",\n \"name\" \"x\"}").await;
        assert!(
            broken.starts_with("400 invalid_json the body is no JSON: ") && broken.contains("line 2 column"),
            "{broken}"
        );
        assert!(told("{\"app\": ").await.contains("EOF while parsing"));
        assert_eq!(told("[]").await, "400 invalid must be a job as an object");
        assert!(told("app=billing&name=x").await.starts_with("400 invalid_json "));
        let deep = "[".repeat(200_000);
        let deep = api.post_text("/jobs", deep).await.error();
        assert!(deep.contains("nested deeper than 16 levels"), "{deep}");
        let not_utf8 = api.post_text("/jobs", b"{\"app\": \"\xff\xfe\"}".to_vec()).await.error();
        assert!(not_utf8.starts_with("400 invalid_json "), "{not_utf8}");
    });
}

#[test]
fn json_is_json_whatever_the_content_type_says() {
    api(async |api| {
        api.job(json!({})).await;
        assert_eq!(api.post_text("/jobs", job(json!({})).to_string()).await.status, 201);
    });
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    api(async |api| {
        let large = api.post_text("/jobs", format!("{}{{}}", " ".repeat(1_048_575))).await.error();
        assert_eq!(large, "413 too_large the body has more than 1048576 bytes, which is the limit of this path");
        let batch = api.post_text("/jobs:batch", format!("{}[]", " ".repeat(1_048_575))).await.error();
        assert!(batch.starts_with("400 invalid the array has 0 jobs"), "a batch may be larger: {batch}");
    });
}

// covers: A11
#[test]
fn all_faults_of_a_job_and_of_a_batch_are_told_at_once() {
    api(async |api| {
        api.job(json!({})).await;
        let fields = |answer: &Answer| -> Vec<String> {
            let errors = answer.json["error"]["errors"].as_array().cloned().unwrap_or_default();
            errors.iter().map(|it| it["field"].as_str().unwrap().to_owned()).collect()
        };
        let empty = api.post("/jobs", json!({})).await;
        assert_eq!(fields(&empty), ["app", "name", "handler"], "{}", empty.json);
        assert_eq!(empty.error(), "400 invalid app: is missing; it is required");

        let shape = json!({"shedule": 1, "retries": "3", "name": null, "schedule": {"kind": "weekly"}});
        let mut found = fields(&api.post("/jobs", job(shape)).await);
        found.sort_unstable();
        assert_eq!(found, ["name", "retries", "schedule.kind", "shedule"]);

        let values = json!({"retries": 101, "handler": " ", "timeout_seconds": -1});
        let mut found = fields(&api.post("/jobs", job(values.clone())).await);
        found.sort_unstable();
        assert_eq!(found, ["handler", "retries", "timeout_seconds"]);

        let batch = json!([job(json!({})), job(json!({"retries": 101})), job(values)]);
        let mut found = fields(&api.post("/jobs:batch", batch).await);
        found.sort_unstable();
        assert_eq!(found, ["[1].retries", "[2].handler", "[2].retries", "[2].timeout_seconds"]);
        let one = api.post("/jobs", job(json!({"retries": 101}))).await;
        assert_eq!(fields(&one), [""; 0], "one fault is the error itself");
    });
}

#[test]
fn wrong_forms_unknown_members_and_broken_rules_are_named_together() {
    api(async |api| {
        api.job(json!({})).await;
        let fields = async |path: &str, body: Value| -> Vec<String> {
            let answer = api.post(path, body).await;
            assert_eq!(answer.status, 400, "{}", answer.json);
            let errors = answer.json["error"]["errors"].as_array().cloned().unwrap_or_default();
            errors.iter().map(|it| it["field"].as_str().unwrap().to_owned()).collect()
        };
        let wrong = json!({"overlap": "no", "route": "rr", "retries": -1, "tags": ["A B"], "x": 1});
        let mut named = fields("/jobs", job(wrong.clone())).await;
        named.sort_unstable();
        assert_eq!(named, ["overlap", "retries", "route", "tags", "x"]);
        let batch = fields("/jobs:batch", json!([job(json!({"retries": -1})), job(json!({"x": 1}))])).await;
        assert_eq!(batch, ["[0].retries", "[1].x"]);
        let days =
            json!({"name": "bank", "days": ["2026-13-01", "2026-12-25", "tomorrow"], "weekdays": ["FUN"], "y": 1});
        let mut named = fields("/calendars", days).await;
        named.sort_unstable();
        assert_eq!(named, ["days[0]", "days[2]", "weekdays[0]", "y"]);
    });
}
