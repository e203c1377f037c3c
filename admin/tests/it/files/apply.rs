//! What is refused before anything is written, what stays as it is, and who owns what.

use std::fs;

use serde_json::json;
use tempfile::tempdir;

use super::{command, file, line, printed, refused, with_key};
use crate::api::client::{api, job};

// covers: J2
#[test]
fn all_faults_are_named_before_anything_is_written() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let bare = "  - app: billing\n    key: a\n    name: a\n    handler: h\n    schedule:\n      kind: unix_cron\n      expression: ";
        for expression in ["*/5 * * * *", "@daily"] {
            let path = file(folder.path(), &format!("{bare}{expression}\n"));
            let said = refused(api, &["apply", &path]).await;
            assert!(
                said.contains(&format!("{path}:12: put the expression in quotes: expression: \"{expression}\"")),
                "{said}"
            );
        }
        let jobs = [line("a", ", retries: many, route: nowhere"), line("b", ", children: [c]"), line("a", "")].concat();
        let path = file(folder.path(), &jobs);
        let said = refused(api, &["apply", &path]).await;
        assert!(said.contains("2 faults; nothing was changed:"), "{said}");
        assert!(said.contains(&format!("{path}:6: billing/a: retries: invalid type: string \"many\"")), "{said}");
        assert!(said.contains(&format!("{path}:6: billing/a: route: `nowhere` is not a route")), "{said}");
        let path = file(folder.path(), &[line("b", ", children: [c]"), line("d", ", children: [d]")].concat());
        let said = refused(api, &["apply", &path]).await;
        assert!(said.contains(&format!("{path}:6: billing/b: children: there is no job billing/c")), "{said}");
        assert!(said.contains("the jobs run after each other: billing/d"), "{said}");
        // What only the server knows.
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let calendar = ", schedule: {kind: cron, expression: \"0 0 3 * * ?\", calendars: [none]}";
        let path = file(folder.path(), &[line("a", ""), line("b", calendar)].concat());
        let said = refused(api, &["apply", &path]).await;
        assert!(said.contains(&format!("{path}:7: billing/b: schedule.calendars: ")), "{said}");
        assert_eq!(api.get("/jobs").await.column("id").len(), 0);

        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        let said = refused(api, &["apply", empty.to_str().unwrap()]).await;
        assert!(said.contains("has no files that end with .yaml"), "{said}");
        let (code, _, said) = command(api.url(), "a-wrong-token-of-16", &["apply", &path]).await;
        assert_eq!((code, said.contains("401")), (Some(1), true), "{said}");
        let (code, ..) = command(api.url(), &api.token, &["apply", &path, "--prun"]).await;
        assert_eq!(code, Some(1), "2 would mean changes");
    });
}

// covers: J3
#[test]
fn a_dry_run_shows_members_and_instants() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let daily = |hour: u8| format!(", schedule: {{kind: cron, expression: \"0 0 {hour} * * ?\"}}");
        let path = file(folder.path(), &[line("a", &daily(3)), line("b", "")].concat());
        let planned = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        assert!(
            planned.starts_with("+ app billing: Billing\n+ billing/a: Job a\n    + handler: \"h\"\n    + schedule: {"),
            "{planned}"
        );
        assert!(planned.contains("    7 days: 7 instants appear: 20"), "{planned}");
        let done = printed(api, 0, &["apply", &path]).await;
        assert_eq!(
            done,
            "+ app billing\n+ billing/a: Job a\n+ billing/b: Job b\n2 created, 0 changed, 0 deleted, 0 unchanged\n"
        );
        let path = file(folder.path(), &[line("a", &format!("{}, retries: 2", daily(4))), line("b", "")].concat());
        let planned = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        let shown = "~ billing/a: Job a\n    ~ retries: 0 → 2\n    ~ schedule.expression: \"0 0 3 * * ?\" → \"0 0 4 * * ?\"\n    7 days: 7 instants disappear: ";
        assert!(planned.starts_with(shown), "{planned}");
        assert!(
            planned.contains("T03:00:00Z, …\n    7 days: 7 instants appear: ")
                && planned.ends_with("= 1 job without a change\n"),
            "{planned}"
        );
        let plan = printed(api, 2, &["apply", &path, "--dry-run", "--output", "json"]).await;
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        assert_eq!((&plan["jobs"][0]["job"], &plan["jobs"][0]["change"]), (&json!("billing/a"), &json!("update")));
        assert_eq!(plan["jobs"][0]["instants"]["appear"], 7);
    });
}

// covers: J4
#[test]
fn a_pause_survives_an_apply_unless_the_file_says_otherwise() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let path = file(folder.path(), &line("a", ""));
        printed(api, 0, &["apply", &path]).await;
        let id = with_key(api, "a").await["id"].clone();
        api.post(&format!("/jobs/{id}/disable"), json!({"note": "incident 7"})).await.ok();
        let path = file(folder.path(), &line("a", ", retries: 1"));
        let planned = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        assert!(
            planned.contains("billing/a is paused and stays so by ") && planned.contains("incident 7"),
            "{planned}"
        );
        printed(api, 0, &["apply", &path]).await;
        let job = with_key(api, "a").await;
        assert_eq!((&job["enabled"], &job["retries"]), (&json!(false), &json!(1)));
        let path = file(folder.path(), &line("a", ", retries: 1, enabled: true"));
        printed(api, 0, &["apply", &path]).await;
        assert_eq!(with_key(api, "a").await["enabled"], true);
    });
}

// covers: J5
#[test]
fn a_job_of_another_owner_is_refused_unless_it_is_adopted() {
    api(async |api| {
        let folder = tempdir().unwrap();
        api.post("/apps", json!({"name": "billing"})).await.ok();
        api.post("/jobs", job(json!({"key": "a"}))).await.ok();
        api.post("/jobs", job(json!({"key": "b", "set": "shipping"}))).await.ok();
        let path = file(folder.path(), &[line("a", ""), line("b", "")].concat());
        let said = refused(api, &["apply", &path]).await;
        assert!(
            said.contains(":6: billing/a: job ") && said.contains(" belongs to no set of files; --adopt takes it over"),
            "{said}"
        );
        assert!(
            said.contains(":7: billing/b: job ") && said.contains(" belongs to the set shipping; --adopt"),
            "{said}"
        );
        printed(api, 0, &["apply", &path, "--adopt"]).await;
        assert_eq!(with_key(api, "b").await["set"], "billing");
        printed(api, 0, &["apply", &path]).await;
    });
}

// covers: J6
#[test]
fn a_key_is_moved_and_the_job_stays() {
    api(async |api| {
        let folder = tempdir().unwrap();
        printed(api, 0, &["apply", &file(folder.path(), &line("a", ""))]).await;
        let id = with_key(api, "a").await["id"].clone();
        let path = file(folder.path(), &line("b", ", moved: {from: a}"));
        let done = printed(api, 0, &["apply", &path, "--prune"]).await;
        assert!(done.starts_with("~ billing/b: Job b\n"), "{done}");
        assert_eq!(with_key(api, "b").await["id"], id);
        printed(api, 0, &["apply", &path, "--prune"]).await;
    });
}
