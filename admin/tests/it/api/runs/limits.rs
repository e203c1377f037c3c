use serde_json::{Value, json};

use crate::api::client::{Api, api};

fn export() -> Value {
    json!({"name": "db-export", "app": "billing", "max": 2, "key": "customer.id", "all_jobs": false, "description": "One database"})
}

async fn path(api: &Api) -> String {
    api.job(json!({})).await;
    let made = api.post("/limits", export()).await;
    assert_eq!(made.status, 201);
    format!("/limits/{}", made.json["id"])
}

#[test]
fn a_limit_is_made_changed_and_deleted() {
    api(async |api| {
        let path = path(api).await;
        let made = api.get(&path).await.ok();
        for (member, value) in export().as_object().unwrap() {
            assert_eq!(made[member], *value, "{member}");
        }
        assert_eq!((&made["version"], &made["taken"]), (&json!(1), &json!(0)));
        assert_eq!((&made["holders"], &made["waiting"]), (&json!([]), &json!([])));
        assert_eq!(api.get("/limits").await.column("name"), ["db-export"]);
        // An answer is changed and sent back.
        let mut changed = made.clone();
        changed["max"] = json!(5);
        let newer = api.put(&path, changed.clone()).await.ok();
        assert_eq!((&newer["version"], &newer["max"]), (&json!(2), &json!(5)));
        let stale = api.put(&path, changed.clone()).await.error();
        assert_eq!(stale, "409 changed the limit \"db-export\" has version 2 by now");
        let renamed = api.put(&path, json!({"name": "other", "max": 5})).await.error();
        assert_eq!(renamed, "400 invalid name: cannot be changed: a limit keeps its name");
        assert_eq!(api.delete(&path).await.status, 204);
        assert!(api.get(&path).await.error().starts_with("404 not_found"));
    });
}

#[test]
fn all_faults_of_a_limit_are_named() {
    api(async |api| {
        api.job(json!({})).await;
        let wrong = json!({"name": "db export", "app": "billing", "max": 0, "key": "a..b"});
        let answer = api.post("/limits", wrong).await;
        assert_eq!(answer.status, 400);
        let fields: Vec<&str> =
            answer.json["error"]["errors"].as_array().unwrap().iter().filter_map(|it| it["field"].as_str()).collect();
        assert_eq!(fields, ["name", "max", "key"]);
        let shared = api.post("/limits", json!({"name": "x", "max": 1, "all_jobs": true})).await.error();
        assert!(shared.starts_with("400 invalid all_jobs: needs an app"), "{shared}");
        let missing = api.post("/limits", json!({"name": "x", "app": "nothing", "max": 1})).await.error();
        assert_eq!(missing, "400 invalid app: there is no app \"nothing\"");
        path(api).await;
        assert!(api.post("/limits", export()).await.error().starts_with("409 taken"));
        let unknown = api.post("/limits", json!({"name": "x", "max": 1, "most": 2})).await.error();
        assert!(
            unknown.starts_with("400 invalid most: there is no member `most`; expected one of `name`"),
            "{unknown}"
        );
    });
}

#[test]
fn a_job_names_limits_that_exist_and_keeps_them_from_being_deleted() {
    api(async |api| {
        let path = path(api).await;
        let members = json!({"limits": ["db-export"], "overlap": "wait", "max_concurrent": 3, "priority": -60});
        let job = api.job(members.clone()).await;
        for (member, value) in members.as_object().unwrap() {
            assert_eq!(job[member], *value, "{member}");
        }
        let refused = api.delete(&path).await.error();
        assert!(refused.starts_with("409 in_use the limit \"db-export\" is used by jobs: "), "{refused}");
        let mut body = job.clone();
        body["limits"] = json!(["db-export", "other"]);
        let unknown = api.put(&format!("/jobs/{}", job["id"]), body).await.error();
        assert!(unknown.starts_with("400 invalid limits: there is no limit \"other\""), "{unknown}");
    });
}

#[test]
fn wrong_members_of_a_job_are_refused() {
    api(async |api| {
        api.job(json!({})).await;
        for (members, error) in [
            (json!({"max_concurrent": 2}), "400 invalid max_concurrent: needs the rule for overlaps"),
            (json!({"max_concurrent": 0}), "400 invalid max_concurrent: 0 is not allowed; 1 to 1000 fires"),
            (json!({"priority": 3601}), "400 invalid priority: 3601 is not allowed; -3600 to 3600 seconds"),
            (json!({"limits": ["a", "b", "c", "d", "e"]}), "400 invalid limits: has 5 names; at most 4 are allowed"),
            (json!({"limits": ["a", "a"]}), "400 invalid limits: has \"a\" twice"),
        ] {
            let mut body = json!({"app": "billing", "name": "n", "handler": "h"});
            body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            let answer = api.post("/jobs", body).await.error();
            assert!(answer.starts_with(error), "{answer}");
        }
    });
}

#[test]
fn an_app_has_a_weight() {
    api(async |api| {
        api.job(json!({})).await;
        let apps = api.get("/apps").await.json;
        let path = format!("/apps/{}", apps["items"][0]["id"]);
        assert_eq!(api.put(&path, json!({"weight": 7})).await.ok()["weight"], 7);
        let wrong = api.put(&path, json!({"weight": 0})).await.error();
        assert_eq!(wrong, "400 invalid weight: 0 is not allowed; 1 to 100");
    });
}

#[test]
fn a_run_is_asked_for_with_a_priority() {
    api(async |api| {
        let job = api.job(json!({})).await;
        let path = format!("/jobs/{}/run", job["id"]);
        let wrong = api.post(&path, json!({"priority": 5000})).await.error();
        assert_eq!(wrong, "400 invalid priority: 5000 is not allowed; -3600 to 3600 seconds");
        assert_eq!(api.post(&path, json!({"priority": 60})).await.status, 200);
    });
}
