//! A form names all that is wrong with it at once.

use super::client::Console;
use super::run;

#[test]
fn a_wrong_expression_does_not_hide_a_wrong_zone() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for kind in ["cron", "unix_cron"] {
            for zone in ["Europe/Nowhere", "berlin"] {
                let fields = [
                    ("app", "orders"),
                    ("handler", ""),
                    ("name", "n"),
                    ("kind", kind),
                    ("expression", "99 99 * * ?"),
                    ("timezone", zone),
                    ("max_fires", "many"),
                    ("retries", "200"),
                ];
                let answer = admin.submit("/jobs", &fields).await;
                assert_eq!(answer.status, 422);
                for field in ["handler", "expression", "timezone", "max_fires", "retries"] {
                    assert!(answer.error(field).is_some(), "{kind} {zone} {field}");
                }
            }
        }
    });
}

#[test]
fn each_wrong_day_of_a_calendar_is_named() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let fields = [("name", ""), ("days", "2026-13-01\r\n2026-12-25\r\ntomorrow")];
        let answer = admin.submit("/calendars", &fields).await;
        assert_eq!(answer.status, 422);
        for day in ["`2026-13-01` is no day", "`tomorrow` is no day"] {
            assert!(answer.body.contains(day), "{day}");
        }
        assert!(answer.error("name").is_some(), "the rules are checked too");
        let pause = admin.submit("/pauses", &[("app", ""), ("note", ""), ("until", "tomorrow")]).await;
        assert!(["app", "note", "until"].iter().all(|field| pause.error(field).is_some()));
    });
}

#[test]
fn an_empty_maintenance_window_has_five_faults_and_a_summary_of_them() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let empty =
            [("app", ""), ("note", ""), ("rule", "weekly"), ("start", ""), ("timezone", "UTC"), ("minutes", "")];
        let answer = admin.submit("/pauses/windows", &empty).await;
        assert_eq!(answer.status, 422);
        for field in ["app", "note", "weekdays", "start", "minutes"] {
            assert!(answer.error(field).is_some(), "{field}");
            assert!(answer.body.contains(&format!("<a href=\"#{field}\">")), "{field} in the summary");
        }
        assert!(answer.body.contains("5 fields are wrong."));
        let cron =
            [("app", ""), ("note", "n"), ("rule", "cron"), ("expression", "x"), ("timezone", "UTC"), ("minutes", "0")];
        let answer = admin.submit("/pauses/windows", &cron).await;
        assert!(["app", "expression", "minutes"].iter().all(|field| answer.error(field).is_some()));
    });
}

#[test]
fn a_new_token_names_the_missing_password_beside_the_missing_apps() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let answer = admin.submit("/account/tokens", &[("role", "viewer")]).await;
        for field in ["name", "apps", "own_password"] {
            assert!(answer.error(field).is_some(), "{field}");
        }
    });
}
