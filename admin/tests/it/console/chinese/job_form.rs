//! The form of a job, each of its fields with wrong values.

use super::{errors, is_chinese, start, wrong};
use crate::console::forms::but;
use crate::console::run;

/// Values of a job's form that are wrong, with the field that has the error.
const WRONG_JOBS: &[(&[(&str, &str)], &str)] = &[
    (&[("app", "")], "app"),
    (&[("app", "none")], "app"),
    (&[("name", "")], "name"),
    (&[("name", "a\tb")], "name"),
    (&[("handler", "")], "handler"),
    (&[("description", "a\u{1}b")], "description"),
    (&[("owner", "a\tb")], "owner"),
    (&[("tags", "Big")], "tags"),
    (&[("tags", "a b c d e f g h i j k")], "tags"),
    (&[("params", "a\0b")], "params"),
    (&[("expression", "")], "expression"),
    (&[("expression", "@daily")], "expression"),
    (&[("expression", "@never")], "expression"),
    (&[("expression", "* * *")], "expression"),
    (&[("expression", "0 3 * * 1")], "expression"),
    (&[("expression", "0 0 25 * * ?")], "expression"),
    (&[("expression", "0 0 a * * ?")], "expression"),
    (&[("expression", "0 , * * * ?")], "expression"),
    (&[("expression", "0 0/0 * * * ?")], "expression"),
    (&[("expression", "0 0 0 32 * ?")], "expression"),
    (&[("expression", "0 0 0 0W * ?")], "expression"),
    (&[("expression", "0 0 0 L-40 * ?")], "expression"),
    (&[("expression", "0 0 0 ? * 6#9")], "expression"),
    (&[("expression", "0 0 0 ? * XL")], "expression"),
    (&[("expression", "0 0 0 ? * MON-5")], "expression"),
    (&[("expression", "0 0 0 ? * MON/2")], "expression"),
    (&[("expression", "0 0 0 ? 13 1")], "expression"),
    (&[("expression", "0 0 0 ? * 9")], "expression"),
    (&[("expression", "0 0 0 ? * ?")], "expression"),
    (&[("expression", "0 0 0 1 * 1")], "expression"),
    (&[("expression", "0 0 0 1 1 ? 2030-2020")], "expression"),
    (&[("expression", "0 0 0 1 1 ? 1000")], "expression"),
    (&[("expression", "0 0 0 30 2 ?")], "expression"),
    (&[("timezone", "Mars/Olympus")], "timezone"),
    (&[("timezone", "Asia/Shanghia")], "timezone"),
    (&[("kind", "unix_cron"), ("expression", "@reboot")], "expression"),
    (&[("kind", "unix_cron"), ("expression", "@never")], "expression"),
    (&[("kind", "unix_cron"), ("expression", "")], "expression"),
    (&[("kind", "unix_cron"), ("expression", "* *")], "expression"),
    (&[("kind", "unix_cron"), ("expression", "0 0 3 * * ?")], "expression"),
    (&[("kind", "unix_cron"), ("expression", "60 * * * *")], "expression"),
    (&[("kind", "weekly")], "kind"),
    (&[("kind", "fixed_rate"), ("seconds", "0")], "seconds"),
    (&[("kind", "fixed_delay"), ("seconds", "often")], "seconds"),
    (&[("kind", "once"), ("at", "")], "at"),
    (&[("kind", "once"), ("at", "2000-01-01T00:00")], "at"),
    (&[("kind", "daily"), ("every_seconds", "0"), ("weekdays", "MON"), ("from", "8"), ("to", "9")], "every_seconds"),
    (&[("kind", "daily"), ("every_seconds", "9"), ("weekdays", "MON"), ("from", "8h"), ("to", "9")], "from"),
    (&[("kind", "daily"), ("every_seconds", "9"), ("from", "08:00"), ("to", "09:00")], "weekdays"),
    (
        &[("kind", "daily"), ("every_seconds", "9"), ("weekdays", "Montag"), ("from", "08:00"), ("to", "09:00")],
        "weekdays",
    ),
    (&[("start_at", "soon")], "start_at"),
    (&[("start_at", "2030-01-02T00:00"), ("end_at", "2030-01-01T00:00")], "end_at"),
    (&[("end_at", "2000-01-01T00:00")], "end_at"),
    (&[("max_fires", "0")], "max_fires"),
    (&[("spread_seconds", "1")], "spread_seconds"),
    (&[("calendars", "none")], "calendars"),
    (&[("on_excluded", "dance")], "on_excluded"),
    (&[("clock_changes", "x")], "clock_changes"),
    (&[("catch_up", "x")], "catch_up"),
    (&[("misfire", "x")], "misfire"),
    (&[("misfire_threshold_seconds", "0")], "misfire_threshold_seconds"),
    (&[("misfire", "fire_all"), ("misfire_limit", "0")], "misfire_limit"),
    (&[("misfire", "fire_within"), ("misfire_window_seconds", "0")], "misfire_window_seconds"),
    (&[("route", "nearest")], "route"),
    (&[("route", "label"), ("route_labels", "")], "route_labels"),
    (&[("route", "label"), ("route_labels", "gpu")], "route_labels"),
    (&[("overlap", "x")], "overlap"),
    (&[("overlap", "wait"), ("overlap_queue", "0")], "overlap_queue"),
    (&[("block", "x")], "block"),
    (&[("timeout_seconds", "-1")], "timeout_seconds"),
    (&[("timeout_seconds", "99999999999")], "timeout_seconds"),
    (&[("retries", "many")], "retries"),
    (&[("retries", "101")], "retries"),
    (&[("retry_kind", "sometimes")], "retry_kind"),
    (&[("retry_base", "600"), ("retry_cap", "60")], "retry_cap"),
    (&[("retry_base", "90000")], "retry_base"),
    (&[("retry_kind", "fixed"), ("retry_seconds", "")], "retry_seconds"),
    (&[("retry_kind", "list"), ("retry_list", "10, soon")], "retry_list"),
    (&[("retry_kind", "list"), ("retry_list", "")], "retry_list"),
    (&[("flag_after_seconds", "-1")], "flag_after_seconds"),
    (&[("pause_after_failures", "-1")], "pause_after_failures"),
];

#[test]
fn errors_of_the_form_of_a_job_are_chinese() {
    run(async {
        let (_console, reader, _) = start().await;
        let mut found = vec![];
        for (fields, field) in WRONG_JOBS {
            let answer = reader.submit("/jobs", &but(fields)).await;
            let Some(error) = answer.error(field) else {
                found.push(format!("{fields:?}: {} no error of {field}: {:?}", answer.status, errors(&answer.body)));
                continue;
            };
            if !is_chinese(error) {
                found.push(format!("{fields:?}: {error}"));
            }
            found.extend(wrong(&reader, &format!("{fields:?}"), answer, 2).await);
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
    });
}
