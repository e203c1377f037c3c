//! Every form of the console with wrong values.

use super::{EXECUTOR, start, wrong};
use crate::console::run;

/// A path, what is sent there, and how many errors at least are shown.
type Form<'a> = (&'a str, &'a [(&'a str, &'a str)], usize);

const PEOPLE: &[Form<'_>] = &[
    ("/users", &[("name", "")], 1),
    ("/users", &[("name", "a"), ("grant_all", "root")], 1),
    ("/users", &[("name", "admin"), ("grant_all", "viewer")], 1),
    ("/users/1/grants", &[("grant_all", "viewer")], 1),
    ("/users/1/grants", &[("grant_all", "owner")], 1),
    ("/users/1/disable", &[], 1),
    ("/users/1/delete", &[], 1),
    ("/users/1/second-factor/remove", &[], 1),
    ("/users/77/delete", &[], 1),
    ("/account/password", &[("current", "x"), ("password", "short"), ("repeated", "other")], 1),
    ("/account/tokens", &[("name", ""), ("days", "0"), ("role", "admin")], 3),
    ("/account/tokens", &[("name", " a"), ("days", "many"), ("role", "root")], 3),
    ("/account/tokens/7/revoke", &[], 1),
    ("/account/sessions/end", &[("session", "none")], 1),
    ("/account/second-factor", &[("password", "x")], 1),
    ("/account/second-factor/confirm", &[("code", "000000")], 1),
    ("/preferences", &[("zone", "Mars/Phobos")], 1),
];

const APPS: &[Form<'_>] = &[
    ("/apps", &[("name", "a b")], 1),
    ("/apps", &[("name", "-orders")], 1),
    ("/apps", &[("name", "or ders")], 1),
    ("/apps", &[("name", "orders")], 1),
    ("/apps/APP", &[("name", ""), ("title", "a\tb")], 2),
    ("/apps/APP", &[("name", "billing")], 1),
    ("/apps/APP/delete", &[], 1),
    ("/apps/77/delete", &[], 1),
    ("/apps/APP/executors", &[("address", "ftp://a")], 1),
    ("/apps/APP/executors", &[("address", "nonsense")], 1),
    ("/apps/APP/executors", &[("address", "http://u:p@a:1/")], 1),
    ("/apps/APP/executors", &[("address", "http://a:99999")], 1),
    ("/apps/APP/executors", &[("address", "http://a:1/?q")], 1),
    ("/apps/APP/executors", &[("address", "http://0x7f.1:1")], 1),
    ("/apps/APP/executors", &[("address", "http://169.254.169.254:80")], 1),
    ("/apps/APP/executor", &[("address", EXECUTOR), ("weight", "101"), ("labels", "gpu")], 2),
    ("/apps/APP/executor", &[("address", EXECUTOR), ("weight", "x"), ("labels", "a=1,a=2")], 1),
    ("/apps/APP/executor", &[("address", EXECUTOR), ("labels", "a b=1")], 1),
    ("/apps/APP/executor", &[("address", EXECUTOR), ("labels", "=1")], 1),
    ("/apps/APP/executor", &[("address", "http://gone:1"), ("labels", "")], 1),
    ("/apps/APP/tokens", &[("name", ""), ("days", "9999")], 2),
    ("/apps/APP/tokens/rule", &[("own_tokens_only", "yes")], 1),
    ("/apps/APP/tokens/7/revoke", &[], 1),
    ("/apps/APP/retention", &[("days", "4000")], 1),
    ("/apps/APP/retention", &[("days", "x"), ("runs", "-1"), ("failures", "99999999999999999999")], 2),
    ("/retention/edit", &[("runs", "99999999999")], 1),
    ("/pauses", &[("app", ""), ("until", "tomorrow")], 2),
    ("/pauses", &[("app", "all"), ("note", "")], 1),
    ("/pauses", &[("app", "all"), ("note", "n"), ("until", "2000-01-01T00:00")], 1),
    ("/pauses", &[("app", "all"), ("note", "n"), ("from", "2099-01-01T00:00"), ("until", "2099-01-02T00:00")], 1),
    ("/pauses/77/end", &[], 1),
    ("/pauses/windows", &[("app", ""), ("rule", "weekly"), ("minutes", "x")], 3),
    ("/pauses/windows", &[("app", "all"), ("weekdays", "MON"), ("start", "9"), ("minutes", "0")], 1),
    (
        "/pauses/windows",
        &[("app", "all"), ("rule", "cron"), ("expression", "nonsense"), ("note", ""), ("minutes", "0")],
        3,
    ),
    (
        "/pauses/windows",
        &[
            ("app", "all"),
            ("rule", "cron"),
            ("expression", "0 0 * * * ?"),
            ("note", "n"),
            ("timezone", "Mars"),
            ("minutes", "90"),
        ],
        1,
    ),
    (
        "/pauses/windows",
        &[
            ("app", "all"),
            ("rule", "cron"),
            ("expression", "0 0 * * * ?"),
            ("note", "n"),
            ("timezone", "UTC"),
            ("minutes", "90"),
        ],
        1,
    ),
    ("/pauses/windows/77/delete", &[], 1),
];

const ALERTS: &[Form<'_>] = &[
    ("/alerts/rules", &[("name", ""), ("group_seconds", "-1"), ("threshold", "0"), ("repeat_seconds", "5")], 5),
    (
        "/alerts/rules",
        &[
            ("name", "r"),
            ("kinds", "long_running"),
            ("kinds", "clock"),
            ("app", "orders"),
            ("channels", "7"),
            ("children", "a"),
            ("second_channels", "x"),
            ("after_seconds", "1"),
            ("silences", "always"),
        ],
        4,
    ),
    ("/alerts/rules", &[("name", "r"), ("kinds", "failed"), ("channels", "77")], 1),
    (
        "/alerts/rules",
        &[("name", "r"), ("kinds", "failed"), ("channels", "77"), ("silences", "MON 25:00-26:00 UTC")],
        1,
    ),
    (
        "/alerts/rules",
        &[("name", "r"), ("kinds", "failed"), ("channels", "77"), ("silences", "MON 21:00-22:00 Mars")],
        1,
    ),
    (
        "/alerts/rules",
        &[
            ("name", "r"),
            ("kinds", "long_running"),
            ("channels", "1"),
            ("running_seconds", "0"),
            ("running_p95_percent", "5"),
        ],
        2,
    ),
    ("/alerts/channels", &[("kind", "carrier pigeon"), ("name", "c")], 1),
    ("/alerts/channels", &[("kind", "webhook"), ("name", ""), ("url", "ftp://a"), ("template", "{{nothing}}")], 3),
    ("/alerts/channels", &[("kind", "webhook"), ("name", "c"), ("url", "http://a"), ("template", "{{title}}")], 1),
    ("/alerts/channels", &[("kind", "slack"), ("name", "c"), ("secret_url", "x")], 1),
    ("/alerts/channels", &[("kind", "pagerduty"), ("name", "c"), ("url", "x")], 2),
    (
        "/alerts/channels",
        &[
            ("kind", "email"),
            ("name", "c"),
            ("host", ""),
            ("port", "0"),
            ("ca", "x"),
            ("from", "x"),
            ("to", "y"),
            ("user", "u"),
        ],
        5,
    ),
    ("/alerts/channels/77", &[("name", "c")], 1),
    ("/alerts/77/acknowledge", &[], 1),
    ("/alerts/rules/77/delete", &[], 1),
];

const JOBS: &[Form<'_>] = &[
    ("/calendars", &[("name", ""), ("days", "2026-13-01")], 1),
    ("/calendars", &[("name", "a/b"), ("days", "2026-12-26 to 2026-12-24"), ("extra", "2000-01-01 to 2099-01-01")], 2),
    ("/calendars", &[("name", "bank")], 1),
    ("/calendars", &[("name", "b"), ("weekdays", "XXX"), ("title", "a\tb")], 1),
    ("/calendars/bank/edit", &[("version", "9"), ("name", "bank")], 1),
    ("/calendars/none/delete", &[], 1),
    ("/limits", &[("name", "a b"), ("app", ""), ("max", "x")], 2),
    ("/limits", &[("name", "a b"), ("app", "all"), ("max", "0"), ("limit_key", "a..b"), ("all_jobs", "yes")], 4),
    ("/limits/77/delete", &[], 1),
    ("/jobs/1/disable", &[("note", ""), ("until", "2099-01-01T00:00")], 1),
    ("/jobs/1/disable", &[("until", "soon")], 1),
    ("/jobs/77/enable", &[], 1),
    ("/jobs/1/run", &[("key", "b"), ("address", "http://gone:1")], 1),
    ("/jobs/1/run", &[("key", "c"), ("params", "a\0b")], 1),
    ("/jobs/1/backfill", &[("from", ""), ("to", "yesterday"), ("max_concurrent", "0"), ("step", "start")], 3),
    (
        "/jobs/1/backfill",
        &[("from", "2025-10-08T00:00"), ("to", "2025-10-07T00:00"), ("max_concurrent", "1"), ("step", "dry")],
        1,
    ),
    (
        "/jobs/1/backfill",
        &[("from", "2025-10-08T00:00"), ("to", "2099-10-07T00:00"), ("max_concurrent", "1"), ("step", "dry")],
        1,
    ),
    (
        "/jobs/2/backfill",
        &[("from", "2025-10-07T00:00"), ("to", "2025-10-08T00:00"), ("max_concurrent", "1"), ("step", "dry")],
        1,
    ),
    ("/jobs/1/retention", &[("days", "4000")], 1),
    ("/jobs/1/history/9/restore", &[], 1),
    ("/backfills/77/cancel", &[], 1),
    ("/jobs/bulk", &[("step", "ask"), ("action", "pause")], 1),
    ("/jobs/bulk", &[("action", "explode"), ("id", "1")], 1),
    ("/jobs/bulk", &[("step", "do"), ("action", "add_tag"), ("id", "1"), ("new_tag", "A B"), ("count", "1")], 1),
    ("/jobs/bulk", &[("step", "do"), ("action", "move"), ("id", "1"), ("to", ""), ("count", "1")], 1),
    ("/jobs/bulk", &[("step", "do"), ("action", "pause"), ("id", "1"), ("count", "5")], 1),
    (
        "/jobs/bulk",
        &[("step", "do"), ("action", "pause"), ("id", "1"), ("until", "2000-01-01T00:00"), ("count", "1")],
        1,
    ),
    ("/runs/bulk", &[("step", "ask"), ("action", "kill")], 1),
    ("/runs/bulk", &[("action", "explode"), ("id", "1")], 1),
    ("/runs/77/kill", &[], 1),
    ("/runs/RUN/resolve", &[("outcome", "succeeded"), ("note", "seen")], 1),
];

async fn assert_chinese(forms: &[Form<'_>]) {
    let (console, reader, run) = start().await;
    let app = console.store.apps().by_name("orders").await.unwrap().unwrap().id.to_string();
    let mut found = vec![];
    for (path, fields, least) in forms {
        let path = path.replace("APP", &app).replace("RUN", &run);
        let answer = reader.submit(&path, fields).await;
        found.extend(wrong(&reader, &format!("{path} {fields:?}"), answer, *least).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn errors_of_people_and_of_an_account_are_chinese() {
    run(assert_chinese(PEOPLE));
}

#[test]
fn errors_of_apps_pauses_and_retention_are_chinese() {
    run(assert_chinese(APPS));
}

#[test]
fn errors_of_alert_rules_and_channels_are_chinese() {
    run(assert_chinese(ALERTS));
}

#[test]
fn errors_of_calendars_and_of_what_is_done_with_jobs_and_runs_are_chinese() {
    run(assert_chinese(JOBS));
}
