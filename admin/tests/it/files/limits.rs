//! Limits in files.

use serde_json::{Value, json};
use std::fs;
use tempfile::tempdir;

use super::{line, printed, refused, with_key};
use crate::api::client::{api, job};

const HEAD: &str = "format: 1\nset: billing\napps:\n  - {name: billing, title: Billing}\n";

#[test]
fn limits_are_made_before_the_jobs_that_name_them_and_compared() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let path = folder.path().join("billing.yaml");
        let limits =
            "limits:\n  - {name: export, app: billing, max: 2, key: customer.id}\n  - {name: license, max: 5}\n";
        fs::write(&path, [HEAD, limits, "jobs:\n", &line("a", ", limits: [export, license]")].concat()).unwrap();
        let path = path.to_str().unwrap().to_owned();
        let planned = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        let expected =
            "+ limit billing/export\n    + key: \"customer.id\"\n    + max: 2\n+ limit license\n    + max: 5\n";
        assert!(planned.contains(expected), "{planned}");
        printed(api, 0, &["apply", &path]).await;
        assert_eq!(with_key(api, "a").await["limits"], json!(["export", "license"]));
        assert_eq!(printed(api, 0, &["drift", &path]).await, "= 1 job without a change\n");

        let all = api.get("/limits").await.ok();
        let export = all["items"].as_array().unwrap().iter().find(|it| it["name"] == "export").unwrap().clone();
        let mut changed = export.clone();
        changed["max"] = json!(9);
        api.put(&format!("/limits/{}", export["id"]), changed).await.ok();
        let shown = printed(api, 2, &["drift", &path]).await;
        assert!(shown.contains("~ limit billing/export\n    ~ max: 9 → 2\n"), "{shown}");
        let shown: Value = serde_json::from_str(&printed(api, 2, &["drift", &path, "--output", "json"]).await).unwrap();
        assert_eq!((&shown["limits"][0]["change"], &shown["limits"][0]["name"]), (&json!("update"), &json!("export")));
        printed(api, 0, &["apply", &path]).await;
        assert_eq!(api.get(&format!("/limits/{}", export["id"])).await.ok()["max"], 2);

        // A file without them leaves them as they are.
        fs::write(&path, [HEAD, "jobs:\n", &line("a", ", limits: [export, license]")].concat()).unwrap();
        printed(api, 0, &["drift", &path]).await;
    });
}

#[test]
fn an_export_has_the_limits_of_its_app_and_the_shared_ones_that_its_jobs_name() {
    api(async |api| {
        api.post("/apps", json!({"name": "other"})).await.ok();
        api.job(json!({})).await;
        for limit in [
            json!({"name": "export", "app": "billing", "max": 2, "all_jobs": true}),
            json!({"name": "license", "max": 5, "description": "of the vendor"}),
            json!({"name": "unused", "max": 7}),
            json!({"name": "of-other", "app": "other", "max": 1}),
        ] {
            api.post("/limits", limit).await;
        }
        api.post("/jobs", job(json!({"key": "b", "limits": ["license"]}))).await.ok();
        let folder = tempdir().unwrap();
        let to = folder.path().to_str().unwrap();
        printed(api, 0, &["export", "--add-keys", "--set", "billing", "--to", to]).await;
        let text = fs::read_to_string(folder.path().join("billing.yaml")).unwrap();
        assert!(text.contains("limits:") && text.contains("export") && text.contains("of the vendor"), "{text}");
        assert!(!text.contains("unused") && !text.contains("of-other"), "{text}");
        printed(api, 0, &["apply", to, "--adopt"]).await;
        assert_eq!(printed(api, 0, &["drift", to]).await, "= 2 jobs without a change\n");
    });
}

#[test]
fn a_wrong_limit_is_named_with_its_line() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let path = folder.path().join("billing.yaml");
        fs::write(&path, [HEAD, "limits:\n  - {name: export, app: shipping, max: 0}\njobs: []\n"].concat()).unwrap();
        let path = path.to_str().unwrap();
        let said = refused(api, &["apply", path]).await;
        assert!(said.contains("billing.yaml:6: limits[0]: max: 0 is not allowed; 1 to 10000 runs"), "{said}");
        fs::write(path, [HEAD, "limits:\n  - {name: export, app: shipping, max: 1}\njobs: []\n"].concat()).unwrap();
        let said = refused(api, &["apply", path]).await;
        assert!(said.contains("billing.yaml:6: limit shipping/export: app: there is no such app"), "{said}");
    });
}
