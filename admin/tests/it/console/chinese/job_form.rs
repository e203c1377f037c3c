//! The form of a job, each of its fields with wrong values.

use carillon_scheduler::job::NOTES;

use super::{start, wrong};
use crate::console::forms::but;
use crate::console::run;

/// Values of a job's form that are wrong.
const WRONG_JOBS: &[&[(&str, &str)]] = &[
    &[("app", "")],
    &[("app", "none")],
    &[("name", "")],
    &[("name", "a\tb")],
    &[("handler", "")],
    &[("description", "a\u{1}b")],
    &[("tags", "Big")],
    &[("tags", "a b c d e f g h i j k")],
    &[("params", "a\0b")],
    &[("expression", "")],
    &[("expression", "@daily")],
    &[("expression", "@never")],
    &[("expression", "* * *")],
    &[("expression", "0 3 * * 1")],
    &[("expression", "0 0 25 * * ?")],
    &[("expression", "0 0 a * * ?")],
    &[("expression", "0 , * * * ?")],
    &[("expression", "0 0/0 * * * ?")],
    &[("expression", "0 0 0 32 * ?")],
    &[("expression", "0 0 0 0W * ?")],
    &[("expression", "0 0 0 L-40 * ?")],
    &[("expression", "0 0 0 ? * 6#9")],
    &[("expression", "0 0 0 ? * XL")],
    &[("expression", "0 0 0 ? * MON-5")],
    &[("expression", "0 0 0 ? * MON/2")],
    &[("expression", "0 0 0 ? 13 1")],
    &[("expression", "0 0 0 ? * 9")],
    &[("expression", "0 0 0 ? * ?")],
    &[("expression", "0 0 0 1 * 1")],
    &[("expression", "0 0 0 1 1 ? 2030-2020")],
    &[("expression", "0 0 0 1 1 ? 1000")],
    &[("expression", "0 0 0 30 2 ?")],
    &[("timezone", "Mars/Olympus")],
    &[("timezone", "Asia/Shanghia")],
    &[("kind", "unix_cron"), ("expression", "@reboot")],
    &[("kind", "unix_cron"), ("expression", "@never")],
    &[("kind", "unix_cron"), ("expression", "")],
    &[("kind", "unix_cron"), ("expression", "* *")],
    &[("kind", "unix_cron"), ("expression", "0 0 3 * * ?")],
    &[("kind", "unix_cron"), ("expression", "60 * * * *")],
    &[("kind", "weekly")],
    &[("kind", "fixed_rate"), ("seconds", "0")],
    &[("kind", "fixed_delay"), ("seconds", "often")],
    &[("kind", "once"), ("at", "")],
    &[("kind", "once"), ("at", "2000-01-01T00:00")],
    &[("kind", "daily"), ("every_seconds", "0"), ("weekdays", "MON"), ("from", "8"), ("to", "9")],
    &[("kind", "daily"), ("every_seconds", "9"), ("weekdays", "MON"), ("from", "8h"), ("to", "9")],
    &[("kind", "daily"), ("every_seconds", "9"), ("from", "08:00"), ("to", "09:00")],
    &[("kind", "daily"), ("every_seconds", "9"), ("weekdays", "Montag"), ("from", "08:00"), ("to", "09:00")],
    &[("start_at", "soon")],
    &[("start_at", "2030-01-02T00:00"), ("end_at", "2030-01-01T00:00")],
    &[("end_at", "2000-01-01T00:00")],
    &[("max_fires", "0")],
    &[("spread_seconds", "1")],
    &[("calendars", "none")],
    &[("durability", "x")],
    &[
        ("durability", "best_effort"),
        ("kind", "none"),
        ("retries", "2"),
        ("misfire", "skip"),
        ("overlap", "wait"),
        ("priority", "5"),
    ],
    &[("durability", "best_effort"), ("kind", "fixed_rate"), ("seconds", "10ms")],
    &[("kind", "fixed_rate"), ("seconds", "50ms")],
    &[("max_concurrent", "0")],
    &[("max_concurrent", "2")],
    &[("limits", "a b c d e")],
    &[("limits", "a/b")],
    &[("limits", "none")],
    &[("priority", "7200")],
    &[("on_excluded", "dance")],
    &[("clock_changes", "x")],
    &[("catch_up", "x")],
    &[("misfire", "x")],
    &[("misfire_threshold_seconds", "0")],
    &[("misfire", "fire_all"), ("misfire_limit", "0")],
    &[("misfire", "fire_within"), ("misfire_window_seconds", "0")],
    &[("route", "nearest")],
    &[("route", "label"), ("route_labels", "")],
    &[("route", "label"), ("route_labels", "gpu")],
    &[("overlap", "x")],
    &[("overlap", "wait"), ("overlap_queue", "0")],
    &[("block", "x")],
    &[("timeout_seconds", "-1")],
    &[("timeout_seconds", "99999999999")],
    &[("retries", "many")],
    &[("retries", "101")],
    &[("retry_kind", "sometimes")],
    &[("retry_base", "600"), ("retry_cap", "60")],
    &[("retry_base", "90000")],
    &[("retry_kind", "fixed"), ("retry_seconds", "")],
    &[("retry_kind", "list"), ("retry_list", "10, soon")],
    &[("retry_kind", "list"), ("retry_list", "")],
    &[("flag_after_seconds", "-1")],
    &[("start_within_seconds", "90000")],
    &[("pause_after_failures", "-1")],
    &[("runs", "http"), ("http_url", "http://a/"), ("http_curl", "curl http://b/")],
    &[("runs", "http"), ("http_curl", "wget http://a/"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl -s"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a b"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl 'a"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl ^\"a^\""), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a?b&c"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl $'\\ud800'"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl `id`"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -d"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a --get=b"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a --frobnicate"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -F b=c"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -d @b"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -X OPTIONS"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -m soon"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -H b"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -H b:c -H B:d"), ("step", "read_curl")],
    &[("runs", "http"), ("http_curl", "curl a -u b:c --oauth2-bearer d"), ("step", "read_curl")],
];

/// These, and a note with a wrong value each.
fn wrong_jobs() -> Vec<Vec<(&'static str, &'static str)>> {
    let notes = NOTES.iter().map(|note| vec![(note.member, "a\tb")]);
    WRONG_JOBS.iter().map(|fields| fields.to_vec()).chain(notes).collect()
}

#[test]
fn each_error_of_the_form_of_a_job_stands_beside_its_field_too() {
    run(async {
        let (_console, reader, _) = start().await;
        let (mut found, mut others) = (vec![], 0);
        for fields in &wrong_jobs() {
            let page = reader.submit("/jobs", &but(fields)).await.body;
            // The character NUL is refused before there is a form.
            let Some(rest) = page.split("data-testid=\"errors\"").nth(1) else {
                others += 1;
                continue;
            };
            let summary = rest.split("</div>").next().unwrap();
            let targets: Vec<&str> =
                summary.split("href=\"#").skip(1).map(|it| it.split('"').next().unwrap()).collect();
            let beside = page.matches("class=\"field-error\" id=\"").count();
            let lost: Vec<_> = targets.iter().filter(|it| !page.contains(&format!("id=\"{it}\""))).collect();
            if beside < targets.len() || targets.is_empty() || !lost.is_empty() {
                found.push(format!("{fields:?}: {targets:?}, {beside} beside their fields; no place: {lost:?}"));
            }
        }
        assert!(found.is_empty() && others < 2, "{others} without a form\n{}", found.join("\n"));
    });
}

#[test]
fn errors_of_the_form_of_a_job_are_chinese() {
    run(async {
        let (_console, reader, _) = start().await;
        let mut found = vec![];
        for fields in &wrong_jobs() {
            let answer = reader.submit("/jobs", &but(fields)).await;
            found.extend(wrong(&reader, &format!("{fields:?}"), answer, 2).await);
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
    });
}
