//! What is exported and applied elsewhere fires at the same instants.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_store::{GrantScope, Grants, Role};
use carillon_testkit::ApiClient;
use serde_json::{Value, json};
use tempfile::tempdir;

use super::policy::token_of;
use super::{file, printed, refused, run, with_key};
use crate::api::client::Api;
use crate::services::{Kind, TestDatabase, on, runtime};

const FROM: &str = "2027-01-01T00:00:00Z";

fn jobs() -> Vec<Value> {
    let job = |key: &str, name: &str, schedule: Value, more: Value| {
        let mut job = json!({"app": "billing", "key": key, "name": name, "handler": "closeDay", "schedule": schedule});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        job
    };
    let cron = json!({"kind": "cron", "expression": "0 30 2 ? * MON-FRI", "timezone": "Europe/Berlin", "clock_changes": "xxl"});
    vec![
        job(
            "cron",
            "Tagesabschluß: 日次 #1",
            cron,
            json!({"params": "a: b\n - c\n", "tags": ["tier-1", "a.b"], "owner": "no"}),
        ),
        job(
            "unix",
            "- x",
            json!({"kind": "unix_cron", "expression": "*/7 3 * * *"}),
            json!({"description": "two\nlines"}),
        ),
        job(
            "rate",
            "rate",
            json!({"kind": "fixed_rate", "seconds": 4_711, "anchor_at": "2020-02-29T12:34:56Z"}),
            json!({}),
        ),
        job(
            "kept",
            "rate",
            json!({"kind": "fixed_rate", "seconds": 97}),
            json!({"route": "label", "route_labels": "zone=eu"}),
        ),
        job(
            "spread",
            "spread",
            json!({"kind": "cron", "expression": "0 0 * * * ?", "spread_seconds": 3600}),
            json!({"retries": 2, "retry_delay": {"kind": "fixed", "seconds": [10, 60]}}),
        ),
        job(
            "daily",
            "daily",
            json!({"kind": "daily", "every_seconds": 600, "from": "22:00", "to": "02:30", "weekdays": ["MON", "SUN"], "timezone": "Asia/Tokyo"}),
            json!({"enabled": false}),
        ),
        job("once", "once", json!({"kind": "once", "at": "2030-01-01T08:00:00+08:00"}), json!({"takes_result": false})),
        job(
            "counted",
            "counted",
            json!({"kind": "fixed_rate", "seconds": 60, "max_fires": 17}),
            json!({"overlap": "wait"}),
        ),
        job("parts", "parts", json!({"kind": "none"}), json!({"parts": 16})),
        job("listed", "listed", json!({"kind": "none"}), json!({"parts": ["eu", "2", "a\n b: \"c\"", ""]})),
    ]
}

async fn filled(api: &ApiClient) {
    let billing = api.post("/apps", json!({"name": "billing", "title": "Billing & more"})).await.ok();
    let shipping = api.post("/apps", json!({"name": "shipping"})).await.ok();
    api.put(&format!("/apps/{}/starters", shipping["id"]), json!({"apps": ["billing"]})).await.ok();
    let made = api.post("/jobs:batch", Value::Array(jobs())).await.ok();
    let foreign =
        api.post("/jobs", json!({"app": "shipping", "name": "Send the report", "handler": "send"})).await.ok();
    let children = json!([foreign["id"], made["items"][2]["id"]]);
    let parent = json!({"app": "billing", "key": "parent", "name": "parent", "handler": "h", "children": children});
    api.post("/jobs", parent).await.ok();
    assert_eq!(billing["name"], "billing");
}

/// The next 1,000 instants of every job, by app and key.
async fn instants(api: &ApiClient) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for job in api.pages::<Value>("/jobs", "").await {
        let next = api.get(&format!("/jobs/{}/next?count=1000&from={FROM}", job["id"])).await.ok();
        let name = format!("{}/{}", job["app"].as_str().unwrap(), job["key"].as_str().unwrap());
        found.insert(name, next["items"].clone());
    }
    found
}

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let text =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap());
    fs::read_dir(folder).unwrap().map(|entry| text(entry.unwrap())).collect()
}

// covers: J1
#[test]
fn an_export_makes_the_same_jobs_in_an_empty_installation() {
    runtime().block_on(async {
        let (first, second) = (TestDatabase::new(Kind::Sqlite).await, TestDatabase::new(Kind::Sqlite).await);
        let (from, to) = (Api::start(&first).await, Api::start(&second).await);
        filled(&from).await;
        let (folder, again) = (tempdir().unwrap(), tempdir().unwrap());
        let (exported, second_export) = (folder.path().to_str().unwrap(), again.path().to_str().unwrap());

        let said = refused(&from, &["export", "--to", exported, "--set", "all"]).await;
        assert!(said.contains("has no key: Send the report") && said.contains("--add-keys"), "{said}");
        let out = printed(&from, 0, &["export", "--to", exported, "--set", "all", "--add-keys"]).await;
        assert_eq!(out.lines().count(), 2, "{out}");

        // Which apps may start the jobs of an app is a matter of its administrators, not of files.
        let shipping = to.post("/apps", json!({"name": "shipping"})).await.ok();
        to.post("/apps", json!({"name": "billing"})).await.ok();
        to.put(&format!("/apps/{}/starters", shipping["id"]), json!({"apps": ["billing"]})).await.ok();

        let planned = printed(&to, 2, &["apply", exported, "--dry-run"]).await;
        assert!(planned.contains("~ app billing: Billing & more\n"), "{planned}");
        assert!(planned.contains("+ billing/rate: rate\n"), "{planned}");
        assert_eq!(to.pages::<Value>("/jobs", "").await.len(), 0, "a dry run writes nothing");
        let done = printed(&to, 0, &["apply", exported]).await;
        assert!(done.ends_with("12 created, 0 changed, 0 deleted, 0 unchanged\n"), "{done}");
        assert_eq!(instants(&to).await, instants(&from).await);
        let daily = super::with_key(&to, "daily").await;
        assert_eq!((&daily["enabled"], &daily["set"]), (&json!(false), &json!("all")));

        let done = printed(&to, 0, &["apply", exported, "--prune"]).await;
        assert_eq!(done, "0 created, 0 changed, 0 deleted, 12 unchanged\n");
        assert_eq!(
            printed(&to, 0, &["apply", exported, "--dry-run"]).await.lines().next(),
            Some("= 12 jobs without a change")
        );
        let (code, ..) = run(&to, &["drift", exported]).await;
        assert_eq!(code, Some(0));
        printed(&to, 0, &["export", "--to", second_export]).await;
        assert_eq!(texts(again.path()), texts(folder.path()));
    });
}

#[test]
fn a_script_goes_into_a_file_and_back_and_is_compared_by_its_text() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mut config = db.config();
        let token = random_secret();
        config.api_token = Some(token.clone());
        config.engine.scripts = true;
        let node = Api::with(db, config, token).await;
        let grants = Grants::for_all(Role::Admin).with_scripts([GrantScope::AllApps]);
        let token = token_of(&node, "ada", &grants).await;
        let api = &ApiClient::new([node.url().to_owned()], &token, Duration::from_secs(20));
        let folder = tempdir().unwrap();
        let script = |text: &str| {
            format!(
                "  - app: billing\n    key: a\n    name: a\n    script:\n      type: shell\n      source: |\n        {text}\n"
            )
        };
        let path = file(folder.path(), &script("echo 1"));
        printed(api, 0, &["apply", &path]).await;
        let out = printed(api, 0, &["export"]).await;
        assert!(out.contains("source: |\n        echo 1\n") && out.contains("remark: applied from billing"), "{out}");
        let again = folder.path().join("again.yaml");
        fs::write(&again, &out).unwrap();
        let out = printed(api, 0, &["apply", again.to_str().unwrap(), "--dry-run"]).await;
        assert!(out.contains("= 1 job without a change"), "{out}");
        let path = file(folder.path(), &script("echo 2"));
        let out = printed(api, 2, &["drift", &path]).await;
        assert!(out.contains("~ script.sha256: "), "{out}");
        printed(api, 0, &["apply", &path]).await;
        let job = with_key(api, "a").await;
        let versions = api.get(&format!("/jobs/{}/scripts", job["id"])).await.ok();
        assert_eq!(versions["items"].as_array().unwrap().len(), 2, "{versions}");
        let path = file(folder.path(), &script("echo 3").replace("      source: |\n        echo 3\n", ""));
        let said = refused(api, &["apply", &path]).await;
        assert!(said.contains("script.source: is missing"), "{said}");
    });
}
