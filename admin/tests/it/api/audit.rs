//! The audit as programs read it, the history of a job that follows from it, and the ids of requests.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{api, job};

// covers: S37
#[test]
fn the_audit_is_listed_filtered_and_exported() {
    api(async |api| {
        let made = api.job(json!({"name": "=1+1", "params": "a,\"b\""})).await;
        let path = format!("/jobs/{}", made["id"]);
        api.put(&path, job(json!({"name": "b"}))).await.ok();
        api.post(&format!("{path}/run"), json!({"params": "x"})).await.ok();
        let list = api.get("/audit?limit=2").await.ok();
        assert_eq!((&list["items"][0]["action"], &list["items"][0]["object"]), (&json!("run"), &json!("run")));
        assert_eq!(list["items"][0]["detail"], json!({"job": made["id"], "cause": "api", "params": "x"}));
        let changed = &list["items"][1];
        assert_eq!((&changed["before"]["name"], &changed["after"]["name"]), (&json!("=1+1"), &json!("b")));
        assert_eq!((&changed["actor"], &changed["source"]), (&json!("api-token"), &json!("127.0.0.1")));
        let rest = api.get(&format!("/audit?after={}", list["next"].as_str().unwrap())).await;
        assert_eq!(rest.column("action"), ["create", "create", "use_token"]);
        let history = format!("/audit?object=job&object_id={}&app=billing", made["id"]);
        assert_eq!(api.get(&history).await.column("action"), ["update", "create"]);
        assert!(api.get("/audit?action=update,kill&actor=api-token").await.column("action").len() == 1);
        assert!(
            api.get("/audit?action=loud")
                .await
                .error()
                .starts_with("400 invalid action: `loud` is not a recorded action")
        );
        assert!(api.get("/audit?after=x").await.error().starts_with("400 invalid after"));

        let lines = export(api, "jsonl").await;
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[1]), (5, changed));
        let table = export(api, "csv").await;
        assert!(table.starts_with("\"key\",\"id\",\"at\",\"actor\",\"account_id\",\"token\","), "{table}");
        assert_eq!(table.lines().count(), 6);
        assert!(api.get("/audit/export?format=xls").await.error().starts_with("400 invalid format"));
    });
}

async fn export(api: &super::client::Api, format: &str) -> String {
    let url = format!("{}/api/v1/audit/export?format={format}", api.url());
    let answer = reqwest::Client::new().get(url).bearer_auth(&api.token).send().await.unwrap();
    assert!(answer.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
    answer.text().await.unwrap()
}

// covers: S37, V10
#[test]
fn a_token_that_is_not_valid_is_in_the_audit_without_the_token() {
    api(async |api| {
        for _ in 0..15 {
            let request = api.request(Method::GET, "/jobs").bearer_auth("not-the-token-of-this-node");
            assert_eq!(api.send(request).await.status, 401);
        }
        let list = api.get("/audit?action=deny").await.ok();
        assert_eq!(list["items"].as_array().unwrap().len(), 10, "as many as one address gets in a minute");
        assert_eq!(
            list["items"][0]["detail"],
            json!({"method": "GET", "path": "/api/v1/jobs", "reason": "not a valid token"})
        );
        assert!(!list.to_string().contains("not-the-token"));
    });
}

// covers: S36
#[test]
fn each_error_carries_the_id_of_its_request() {
    api(async |api| {
        let without = api.send(api.request(Method::GET, "/jobs")).await;
        let mut ids = vec![];
        for answer in [without, api.get("/jobs/999").await, api.get("/nowhere").await, api.get("/jobs?x=1").await] {
            assert!(answer.status.is_client_error());
            ids.push(answer.headers["x-request-id"].to_str().unwrap().to_owned());
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        assert!(!api.get("/jobs").await.headers.contains_key("x-request-id"));
    });
}

// covers: 001-16
#[test]
fn a_former_definition_is_listed_and_restored_exactly() {
    api(async |api| {
        let schedule = json!({"kind": "cron", "expression": "0 0 3 * * ?", "timezone": "Asia/Shanghai"});
        let first = json!({"name": "first", "schedule": schedule, "params": "{\"a\":1}", "retries": 3});
        let made = api.job(first).await;
        let path = format!("/jobs/{}", made["id"]);
        // They differ in the last of as many characters.
        let long = format!("{}é", "x".repeat(64_000));
        let other = format!("{}è", "x".repeat(64_000));
        api.put(&path, job(json!({"name": "second", "params": long}))).await.ok();
        api.put(&path, job(json!({"name": "third", "params": other, "retries": 1}))).await.ok();
        let list = api.get(&format!("{path}/history")).await;
        assert_eq!(list.column("revision"), [3, 2, 1]);
        assert_eq!(list.column("action"), ["update", "update", "create"]);
        let list = list.ok();
        let newest = &list["items"][0];
        assert_eq!((&newest["before"]["name"], &newest["after"]["name"]), (&json!("second"), &json!("third")));
        assert_eq!((&newest["restorable"], &newest["actor"]), (&json!(true), &json!("api-token")));
        let page = api.get(&format!("{path}/history?limit=1&after=3")).await.ok();
        assert_eq!((&page["items"][0]["revision"], &page["next"]), (&json!(2), &json!(2)));
        let restored = api.post(&format!("{path}/history/2/restore"), Value::Null).await.ok();
        assert_eq!(
            (&restored["name"], &restored["revision"], &restored["params"]),
            (&json!("second"), &json!(4), &json!(long))
        );
        let restored = api.post(&format!("{path}/history/1/restore?expected=4"), Value::Null).await.ok();
        for member in ["app", "name", "handler", "params", "schedule", "retries", "route", "misfire", "enabled"] {
            assert_eq!(restored[member], made[member], "{member}");
        }
        let restored = api.post(&format!("{path}/history/3/restore?expected=5"), Value::Null).await.ok();
        assert_eq!(
            (&restored["name"], &restored["retries"], &restored["params"]),
            (&json!("third"), &json!(1), &json!(other))
        );
        let list = api.get(&format!("{path}/history?limit=4")).await.ok();
        let kept = list["items"][3]["after"]["params"].as_str().unwrap();
        assert!(kept.starts_with("xxx") && kept.len() < 1_100, "the list itself has only the beginning: {kept}");
        assert!(list["items"][3]["before"]["params"] != kept, "and says that they differ");
        let refused = api.post(&format!("{path}/history/2/restore?expected=3"), Value::Null).await.error();
        assert!(refused.starts_with("409 "), "{refused}");
        let refused = api.post(&format!("{path}/history/1/restore?expected=3"), Value::Null).await.error();
        assert!(refused.starts_with("409 changed"), "{refused}");
        let missing = api.post(&format!("{path}/history/9/restore"), Value::Null).await.error();
        assert!(missing.starts_with("404 not_found"), "{missing}");
        // What was right then may be wrong now: the answer names the member.
        let child = api.job(json!({"name": "child"})).await;
        api.put(&path, job(json!({"name": "parent", "children": [child["id"]]}))).await.ok();
        api.put(&path, job(json!({"name": "alone"}))).await.ok();
        api.delete(&format!("/jobs/{}", child["id"])).await.ok();
        let refused = api.post(&format!("{path}/history/7/restore"), Value::Null).await.error();
        assert!(refused.starts_with("400 invalid children"), "{refused}");
    });
}

#[test]
fn a_restored_definition_leaves_a_pause_as_it_is() {
    api(async |api| {
        let made = api.job(json!({"name": "first"})).await;
        let path = format!("/jobs/{}", made["id"]);
        api.put(&path, job(json!({"name": "second"}))).await.ok();
        api.post(&format!("{path}/disable"), json!({})).await.ok();
        let restored = api.post(&format!("{path}/history/1/restore"), Value::Null).await.ok();
        assert_eq!((&restored["name"], &restored["enabled"]), (&json!("first"), &json!(false)));
    });
}
