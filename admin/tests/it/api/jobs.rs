use serde_json::{Value, json};

use super::client::{api, job};
use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;

// covers: 000-4
#[test]
fn a_job_is_answered_with_all_its_members() {
    api(async |api| {
        let made = api.job(json!({"schedule": {"kind": "cron", "expression": "*/10 * * * * ?"}})).await;
        let mut expected = json!({
            "id": made["id"], "app": "billing", "name": "Close the day", "handler": "closeDay", "description": "", "owner": "", "tags": [], "params": "", "parts": 1,
            "schedule": {"kind": "cron", "expression": "*/10 * * * * ?", "timezone": "UTC", "clock_changes": "carillon"},
            "catch_up": "all", "misfire": "fire_once", "misfire_threshold_seconds": 60, "misfire_limit": 100,
            "misfire_window_seconds": 3600, "route": "round_robin", "route_labels": "", "overlap": "allow", "overlap_queue": 10,
            "block": "serial", "timeout_seconds": 0, "retries": 0, "retry_delay": {"kind": "exponential", "base_seconds": 5, "cap_seconds": 300}, "children": [], "takes_result": true, "script": null, "workflow": null, "http": null, "key": "", "set": "", "flag_after_seconds": 0, "pause_after_failures": 0, "enabled": true,
            "next_fire_at": "2025-10-09T08:54:10.000Z", "paused_reason": null, "pause": null, "fires_left": null, "revision": 1,
            "created_at": "2025-10-09T08:54:00.400Z", "updated_at": "2025-10-09T08:54:00.400Z"
        });
        for (member, value) in [
            ("max_concurrent", json!(1)),
            ("limits", json!([])),
            ("priority", json!(0)),
            ("durability", json!("durable")),
        ] {
            expected[member] = value;
        }
        assert_eq!(made, expected);
        assert_eq!(api.get(&format!("/jobs/{}", made["id"])).await.ok(), expected);
        let other = api.post("/jobs", job(json!({"schedule": {"kind": "none"}}))).await;
        assert_eq!(other.status, 201);
        assert_eq!(other.headers["location"], format!("/api/v1/jobs/{}", other.json["id"]).as_str());
        assert_eq!(other.json["next_fire_at"], Value::Null);
    });
}

/// What languages of templates and expressions would evaluate.
pub const EXPRESSIONS: &str = "{{7*7}} ${jndi:ldap://x/a} #{7*7} %{7*7} <%= 7*7 %> [[${7*7}]] *{7*7} `id` $(id)";

// covers: S35
#[test]
fn expressions_are_texts_in_every_field_of_a_job() {
    api(async |api| {
        let text = EXPRESSIONS;
        let lines = format!("{text}\n{text}");
        let members = json!({"name": text, "handler": text, "description": lines, "owner": text, "params": lines, "schedule": {"kind": "none"}});
        let made = api.job(members.clone()).await;
        let read = api.get(&format!("/jobs/{}", made["id"])).await.ok();
        assert_eq!(api.get("/jobs").await.ok()["items"][0]["name"], text);
        let changed = api.put(&format!("/jobs/{}", made["id"]), job(members.clone())).await.ok();
        for found in [&made, &read, &changed] {
            for field in ["name", "handler", "description", "owner", "params"] {
                assert_eq!(found[field], members[field], "{field}");
            }
        }
        let parts = json!({"parts": [text, text], "schedule": {"kind": "none"}});
        assert_eq!(api.post("/jobs", job(parts.clone())).await.ok()["parts"], parts["parts"]);
        let app = api.post("/apps", json!({"name": "texts", "title": "{{7*7}} ${7*7} <%= 7 %>"})).await.ok();
        assert_eq!(app["title"], "{{7*7}} ${7*7} <%= 7 %>");
        // Where only some letters are allowed, an expression is refused.
        for (field, value) in [("tags", json!(["{{7*7}}"])), ("key", json!("${7*7}"))] {
            let refused = api.post("/jobs", job(json!({field: value}))).await.error();
            assert!(refused.starts_with(&format!("400 invalid {field}")), "{refused}");
        }
    });
}

// covers: R055
#[test]
fn r055b_a_name_may_have_as_many_characters_as_in_xxl_job() {
    api(async |api| {
        let name = "月".repeat(255);
        let made = api.job(json!({"name": name, "schedule": {"kind": "none"}})).await;
        assert_eq!(made["name"], name.as_str());
        let long = api.post("/jobs", job(json!({"name": "x".repeat(256), "schedule": {"kind": "none"}}))).await;
        assert!(long.error().starts_with("400 invalid name: has 256 characters; at most 255"), "{}", long.error());
    });
}

#[test]
fn an_answer_can_be_changed_and_sent_back() {
    api(async |api| {
        let mut job = api.job(json!({"schedule": {"kind": "fixed_rate", "seconds": 7}})).await;
        let path = format!("/jobs/{}", job["id"]);
        job["name"] = json!("Renamed");
        let first = api.put(&path, job.clone()).await.ok();
        assert_eq!((&first["name"], &first["revision"]), (&json!("Renamed"), &json!(2)));
        let second = api.put(&path, job.clone()).await;
        assert_eq!(second.error(), format!("409 changed job {} has revision 2 by now", job["id"]));
        job.as_object_mut().unwrap().remove("revision");
        api.put(&path, job.clone()).await.ok();
        job["id"] = json!(99);
        assert!(api.put(&path, job).await.error().starts_with("400 invalid id: differs from the"));
    });
}

// covers: 000-4
#[test]
fn an_update_is_in_force_at_once() {
    api(async |api| {
        let made = api.job(json!({"schedule": {"kind": "cron", "expression": "* * * * * ?"}})).await;
        let path = format!("/jobs/{}", made["id"]);
        let update =
            job(json!({"schedule": {"kind": "cron", "expression": "0 0 12 * * ?", "timezone": "Asia/Shanghai"}}));
        let updated = api.put(&path, update).await.ok();
        assert_eq!(updated["next_fire_at"], "2025-10-10T04:00:00.000Z");
        assert_eq!(updated["retries"], 0, "an update gives the whole job");
        assert_eq!(api.get(&path).await.ok(), updated);
    });
}

#[test]
fn a_job_is_put_under_its_key() {
    api(async |api| {
        let app = api.post("/apps", json!({"name": "billing"})).await.ok()["id"].clone();
        api.post("/apps", json!({"name": "shipping"})).await.ok();
        let of_key = |key: &str| format!("/apps/{app}/jobs/{key}");
        let path = &of_key("close-day");
        assert_eq!(api.get(path).await.error(), "404 not_found there is no job \"close-day\" in this app");
        let made = api.put(path, json!({"name": "Close the day", "handler": "closeDay"})).await.ok();
        assert_eq!(
            (&made["app"], &made["key"], &made["revision"]),
            (&json!("billing"), &json!("close-day"), &json!(1))
        );
        assert_eq!(api.get(path).await.ok(), made);
        // Another name is no other job; what an answer has may be sent back.
        let mut changed = made.clone();
        changed["name"] = json!("Close the books");
        let second = api.put(path, changed.clone()).await.ok();
        assert_eq!((&second["id"], &second["revision"], &second["name"]), (&made["id"], &json!(2), &changed["name"]));
        let late = api.put(path, changed).await.error();
        assert_eq!(late, format!("409 changed job {} has revision 2 by now", made["id"]));
        let stale = api.put(&of_key("other"), json!({"name": "n", "handler": "h", "revision": 1})).await.error();
        assert_eq!(stale, "404 not_found there is no job \"other\" in this app");
        let differs = api.put(path, json!({"name": "n", "handler": "h", "app": "shipping"})).await.error();
        assert_eq!(differs, "400 invalid app: differs from the \"billing\" of the path");
        let wrong = api.put(&of_key("Close"), json!({"name": "n", "handler": "h"})).await.error();
        assert!(wrong.starts_with("400 invalid key: 'C' is not allowed; a key has lower case letters"), "{wrong}");
        // A key is one job's, in its app: by creation, by an edit, by a move, within a batch.
        let taken = format!("400 invalid key: job {} of app billing has the key \"close-day\"", made["id"]);
        let keyed = json!({"key": "close-day"});
        assert_eq!(api.post("/jobs", job(keyed.clone())).await.error(), taken);
        let other = api.post("/jobs", job(json!({}))).await.ok();
        let other_path = format!("/jobs/{}", other["id"]);
        assert_eq!(api.put(&other_path, job(keyed.clone())).await.error(), taken);
        let elsewhere = api.post("/jobs", job(json!({"app": "shipping", "key": "close-day"}))).await.ok();
        let moved = api.put(&format!("/jobs/{}", elsewhere["id"]), job(keyed.clone())).await.error();
        assert_eq!(moved, taken);
        let twice = json!([job(json!({"key": "a"})), job(json!({"key": "b"})), job(json!({"key": "a"}))]);
        let refused = api.post("/jobs:batch", twice).await.error();
        assert!(refused.starts_with("400 invalid [2].key: job "), "{refused}");
        // Without it the key is free.
        api.delete(&format!("/jobs/{}", made["id"])).await;
        assert_eq!(api.put(&other_path, job(keyed)).await.ok()["key"], "close-day");
    });
}

#[test]
fn a_job_is_disabled_enabled_and_deleted() {
    api(async |api| {
        let made = api.job(json!({"schedule": {"kind": "cron", "expression": "* * * * * ?"}})).await;
        let path = format!("/jobs/{}", made["id"]);
        let act = async |what: &str| api.post(&format!("{path}/{what}"), json!({})).await.ok();
        let disabled = act("disable").await;
        assert_eq!((&disabled["enabled"], &disabled["next_fire_at"]), (&json!(false), &Value::Null));
        assert_eq!(act("disable").await, disabled);
        let enabled = act("enable").await;
        assert_eq!((&enabled["enabled"], &enabled["next_fire_at"]), (&json!(true), &made["next_fire_at"]));
        assert_eq!(enabled["revision"], 3);
        let deleted = api.delete(&path).await;
        assert_eq!((deleted.status.as_u16(), deleted.json), (204, Value::Null));
        for answer in [api.get(&path).await, api.delete(&path).await, api.put(&path, job(json!({}))).await] {
            assert!(answer.error().starts_with("404 not_found "), "{}", answer.error());
        }
        assert!(api.post(&format!("{path}/enable"), json!({})).await.error().starts_with("404 not_found"));
    });
}

#[test]
fn the_next_instants_are_told_whether_the_job_is_enabled_or_not() {
    api(async |api| {
        let cron = json!({"kind": "cron", "expression": "0 30 2 * * ?", "timezone": "Europe/Berlin"});
        let made = api.job(json!({"enabled": false, "schedule": cron})).await;
        let path = format!("/jobs/{}/next", made["id"]);
        let five = api.get(&path).await.ok();
        assert_eq!(five["items"].as_array().unwrap().len(), 5);
        let two = api.get(&format!("{path}?count=2")).await.ok();
        assert_eq!(two["items"], json!(["2025-10-10T00:30:00.000Z", "2025-10-11T00:30:00.000Z"]));
        assert_eq!(
            api.get(&format!("{path}?count=0")).await.error(),
            "400 invalid count: \"0\" is not allowed here; a number from 1 to 1000"
        );
        let none = api.post("/jobs", job(json!({}))).await.ok();
        assert_eq!(api.get(&format!("/jobs/{}/next?count=100", none["id"])).await.ok()["items"], json!([]));
    });
}

#[test]
fn a_repeated_key_makes_no_second_job() {
    api(async |api| {
        api.job(json!({})).await;
        let first = api.post_with_key("/jobs", "k 1", job(json!({}))).await.ok();
        let again = api.post_with_key("/jobs", "k 1", job(json!({}))).await.ok();
        assert_eq!(again, first);
        let other = api.post_with_key("/jobs", "k 2", job(json!({}))).await.ok();
        assert_ne!(other["id"], first["id"]);
        let empty = api.post_with_key("/jobs", "", job(json!({}))).await.error();
        assert!(empty.starts_with("400 invalid Idempotency-Key: must be 1 to 200"), "{empty}");
        api.delete(&format!("/jobs/{}", first["id"])).await.ok();
        let gone = api.post_with_key("/jobs", "k 1", job(json!({}))).await.error();
        assert!(gone.starts_with("409 changed"), "{gone}");
    });
}

// covers: S37
#[test]
fn every_change_is_in_the_audit_once() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let path = format!("/jobs/{}", made["id"]);
        api.put(&path, job(json!({"name": "b"}))).await.ok();
        api.post(&format!("{path}/disable"), json!({})).await.ok();
        api.post(&format!("{path}/enable"), json!({})).await.ok();
        api.delete(&path).await.ok();
        let id = made["id"].as_i64().unwrap();
        let entries = api.store.audit().list(&AuditFilter::about(AuditObjectKind::Job, id)).await.unwrap().items;
        let actions: Vec<_> = entries.iter().rev().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["create", "update", "disable", "enable", "delete"]);
        assert!(entries.iter().all(|entry| entry.actor == "api-token" && entry.source == "127.0.0.1"));
    });
}

// covers: 004-9
#[test]
fn children_must_exist_and_never_lead_back() {
    api(async |api| {
        let first = api.job(json!({"name": "first"})).await;
        let delay = json!({"kind": "fixed", "seconds": [1, 60]});
        let second = api.job(json!({"name": "second", "children": [first["id"]], "retry_delay": delay})).await;
        assert_eq!((&second["children"], &second["retry_delay"]), (&json!([first["id"]]), &delay));
        let mut changed = first.clone();
        changed["children"] = json!([second["id"]]);
        let path = format!("/jobs/{}", first["id"]);
        let (a, b) = (&first["id"], &second["id"]);
        assert_eq!(
            api.put(&path, changed.clone()).await.error(),
            format!("400 invalid children: job {a} would run after itself: {a} → {b} → {a}")
        );
        changed["children"] = json!([999]);
        assert_eq!(api.put(&path, changed).await.error(), "400 invalid children: there is no job 999");
        let wrong = job(json!({"retry_delay": {"kind": "exponential", "base_seconds": 9, "cap_seconds": 3}}));
        assert_eq!(
            api.post("/jobs", wrong).await.error(),
            "400 invalid retry_delay: base_seconds 9 is above cap_seconds 3"
        );
    });
}
