//! `carillon import crontab` and `import kubernetes`, with the real binary, and what `carillon apply` makes of their files.

use std::fs;

use serde_json::json;
use tempfile::tempdir;

use crate::api::client::api;
use crate::program::{carillon, ended};

const CRONTAB: &str =
    "MAILTO=ada\n# Close the day\n30 23 * * 1-5 /srv/close 'a: b'\n@reboot /srv/start\n@hourly /srv/poll\n";
const CRON_JOB: &str = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: backup, namespace: shop}\nspec:\n  schedule: '0 3 * * *'\n  \
                        jobTemplate: {spec: {template: {spec: {containers: [{name: main, image: shop/backup}]}}}}\n";

fn import(arguments: &[&str]) -> (Option<i32>, String, String) {
    ended(carillon(&[&["import"], arguments].concat()))
}

#[test]
fn the_files_are_applied_and_a_second_import_changes_nothing() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("crontab"), CRONTAB).unwrap();
        fs::write(path("cronjobs.yaml"), CRON_JOB).unwrap();
        api.post("/apps", json!({"name": "operations"})).await.ok();
        let (crontab, cron_jobs) = (path("crontab"), path("cronjobs.yaml"));
        let of_crontab = ["crontab", "--app", "operations", "--zone", "Europe/Berlin", "--handler", "shell", &crontab];
        let of_kubernetes = ["kubernetes", "--app", "operations", "--handler", "pod", &cron_jobs];
        for (arguments, counts, said) in [
            (&of_crontab[..], "2 jobs, 1 left out\n", format!("{crontab}:4: ")),
            (&of_kubernetes[..], "1 job, 0 left out\n", "suspend the CronJob".to_owned()),
        ] {
            for _ in 0..2 {
                let (code, file, report) = import(arguments);
                assert_eq!(code, Some(0), "{report}");
                assert!(report.starts_with(counts) && report.contains(&said), "{report}");
                let jobs = path("jobs.yaml");
                fs::write(&jobs, &file).unwrap();
                let mut command = carillon(&["apply", &jobs]);
                command.env("CARILLON_SERVER", api.url()).env("CARILLON_TOKEN", &api.token);
                let (code, out, err) = tokio::task::spawn_blocking(move || ended(command)).await.unwrap();
                assert_eq!(code, Some(0), "{out}{err}\n{file}");
            }
        }
        let jobs = api.get("/jobs").await.ok();
        let jobs = jobs["items"].as_array().unwrap();
        assert_eq!(jobs.len(), 3);
        assert!(jobs.iter().all(|job| job["enabled"] == false && job["revision"] == 1), "{jobs:?}");
    });
}

#[test]
fn wrong_arguments_and_files_are_named() {
    let (code, out, said) = import(&["crontab", "--app", "a", "--zone", "Mars/Base", "--handler", "h", "x"]);
    assert_eq!((code, &*out), (Some(2), ""));
    assert!(said.contains("--app") && said.contains("--zone"), "{said}");
    let (code, _, said) = import(&["kubernetes", "--app", "operations", "--handler", "h", "/no/such", "/nor/this"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("/no/such: ") && said.contains("/nor/this: "), "{said}");
}
