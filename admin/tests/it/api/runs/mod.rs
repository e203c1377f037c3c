//! Runs on request, and what is done with runs.

mod delayed;
mod limits;
mod loops;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::client::{api, job};
use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;

// covers: 000-2
#[test]
fn a_paused_job_can_be_run_by_hand() {
    api(async |api| {
        let made = api.job(json!({"enabled": false})).await;
        let run = api.post(&format!("/jobs/{}/run", made["id"]), json!({"params": "x"})).await.ok();
        assert_eq!((&run["cause"], &run["state"], &run["job_id"]), (&json!("api"), &json!("claimed"), &made["id"]));
        assert_eq!(run["scheduled_at"], "2025-10-09T08:54:00.400Z");
        assert_eq!((&run["shard_index"], &run["shard_total"], &run["attempt"]), (&json!(0), &json!(1), &json!(1)));
        let mut single = api.get(&format!("/runs/{}", run["id"])).await.ok();
        assert_eq!(
            (single["params"].take(), &single["revision"]),
            (json!("x"), &Value::Null),
            "given with the run, and not sent yet"
        );
        assert!(single["traceparent"].take().is_string());
        assert_eq!(single, run);
        let stored = api.store.runs().get(run["id"].as_i64().unwrap()).await.unwrap().unwrap();
        assert_eq!(stored.params.as_deref(), Some("x"));
    });
}

#[test]
fn a_run_continues_the_trace_of_the_request_for_it() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736";
        let run = async |traceparent: &str, body: Value| {
            let request = api.request(Method::POST, &format!("/jobs/{}/run", made["id"])).bearer_auth(&api.token);
            api.send(request.header("traceparent", traceparent).json(&body)).await.ok()["id"].clone()
        };
        let shown = async |id: Value| {
            let run = api.get(&format!("/runs/{id}")).await.ok();
            run["traceparent"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned()
        };
        let continued = shown(run(&format!("{trace}-00f067aa0ba902b7-00"), json!({})).await).await;
        assert!(continued.starts_with(trace) && continued.ends_with("-00"), "{continued}");
        assert!(!continued.contains("00f067aa0ba902b7"), "{continued}");
        let own = shown(run("no trace", json!({})).await).await;
        assert!(!own.starts_with(trace) && own.ends_with("-01"), "{own}");
        // One that is due later keeps it until then.
        let later = run(&format!("{trace}-00f067aa0ba902b7-01"), json!({"delay_seconds": 60})).await;
        api.post(&format!("/runs/{later}/kill"), json!({})).await.ok();
        assert!(shown(later).await.starts_with(trace));
    });
}

// covers: 001-27
#[test]
fn a_repeated_key_finds_the_run_of_the_first_time() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let other = api.post("/jobs", job(json!({}))).await.ok();
        let run = async |id: &Value, key: &str| {
            api.post_with_key(&format!("/jobs/{id}/run"), key, json!({})).await.ok()["id"].clone()
        };
        let first = run(&made["id"], "order-4711").await;
        assert_eq!(run(&made["id"], "order-4711").await, first);
        assert_ne!(run(&made["id"], "order-4712").await, first);
        assert_ne!(run(&other["id"], "order-4711").await, first, "a key belongs to its job");
        assert_eq!(api.get("/runs").await.column("id").len(), 3);
    });
}

// covers: 001-27
#[test]
fn the_same_key_at_the_same_moment_makes_one_run() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let path = format!("/jobs/{}/run", made["id"]);
        let ask = || api.post_with_key(&path, "once", json!({}));
        let (a, b, c, d) = futures_util::join!(ask(), ask(), ask(), ask());
        let ids: Vec<Value> = [a, b, c, d].into_iter().map(|answer| answer.ok()["id"].clone()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(api.get("/runs").await.column("id").len(), 1);
    });
}

#[test]
fn a_run_may_be_asked_for_without_a_body() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let path = format!("/jobs/{}/run", made["id"]);
        assert_eq!(api.post_text(&path, "").await.ok()["state"], "claimed");
        api.post(&path, json!({"params": null, "address": null})).await.ok();
        for (body, told) in [
            (
                json!({"param": "x"}),
                "param: there is no member `param`; expected one of `params`, `parts`, `address`, `priority`, `at`, `delay_seconds`, `expires_after_seconds`",
            ),
            (json!({"params": 5}), "params: invalid type: integer `5`, expected a string"),
            (json!({"params": "x".repeat(65_537)}), "params: has 65537 bytes; at most 65536 (64 KiB) are allowed"),
            (
                json!([]),
                "the body must be {\"params\"?,\"parts\"?,\"address\"?,\"priority\"?,\"at\"?,\"delay_seconds\"?,\"expires_after_seconds\"?} as an object",
            ),
        ] {
            assert_eq!(api.post(&path, body).await.error(), format!("400 invalid {told}"));
        }
        assert_eq!(api.get("/runs").await.column("id").len(), 2);
    });
}

// covers: S21
#[test]
fn a_run_goes_to_registered_addresses_only() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let body = json!({"address": "http://169.254.169.254"});
        let error = api.post(&format!("/jobs/{}/run", made["id"]), body).await.error();
        assert_eq!(error, "400 invalid address: http://169.254.169.254 is not registered for the job's app");
        assert_eq!(api.get("/runs").await.column("id").len(), 0);
    });
}

#[test]
fn a_run_that_was_not_sent_is_called_off() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let run = api.post(&format!("/jobs/{}/run", made["id"]), json!({})).await.ok();
        let kill = async || api.post(&format!("/runs/{}/kill", run["id"]), json!({})).await.ok();
        assert_eq!(kill().await, json!({"outcome": "cancelled"}));
        let after = api.get(&format!("/runs/{}", run["id"])).await.ok();
        assert_eq!(
            (&after["state"], &after["message"]),
            (&json!("cancelled"), &json!("Called off before it was sent."))
        );
        assert_eq!(kill().await, json!({"outcome": "already_ended"}));
        let log = api.get(&format!("/runs/{}/log", run["id"])).await.error();
        assert_eq!(log, "404 not_found the run was never sent, so there is no log");
    });
}

#[test]
fn a_run_that_waits_has_an_empty_log() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let run = api.post(&format!("/jobs/{}/run", made["id"]), json!({})).await.ok();
        let log = api.get(&format!("/runs/{}/log?from=3", run["id"])).await.ok();
        assert_eq!(log, json!({"from": 3, "to": 2, "content": "", "end": false}));
        let wrong = api.get(&format!("/runs/{}/log?from=x", run["id"])).await.error();
        assert!(wrong.starts_with("400 invalid from: \"x\" is not allowed here; a number from 1"), "{wrong}");
    });
}

#[test]
fn deleting_a_job_keeps_its_runs() {
    api(async |api| {
        let made = api.job(json!({})).await;
        let run = api.post(&format!("/jobs/{}/run", made["id"]), json!({})).await.ok();
        api.delete(&format!("/jobs/{}", made["id"])).await;
        let after = api.get(&format!("/runs/{}", run["id"])).await.ok();
        assert_eq!((&after["job"], &after["state"]), (&Value::Null, &json!("cancelled")));
        assert_eq!(after["message"], "The job was deleted before it was sent.");
    });
}

// covers: 001-40
#[test]
fn a_person_resolves_what_nobody_else_can_and_says_how_they_know() {
    api(async |api| {
        let child = api.job(json!({"name": "child"})).await;
        let made = api.job(json!({"children": [child["id"]]})).await;
        let run = api.post(&format!("/jobs/{}/run", made["id"]), json!({})).await.ok();
        let path = format!("/runs/{}/resolve", run["id"]);
        let word = json!({"outcome": "succeeded", "note": "the file is there"});
        api.sql(&format!(
            "INSERT INTO alarm (id, job_id, run_id, kind, message, created_at, open_at) VALUES (77, {}, {}, 'lost', 'x', 1000, 1000)",
            made["id"], run["id"]
        ))
        .await;
        assert_eq!(
            api.post(&path, word.clone()).await.error(),
            "409 unusable the run is claimed; only a run that is unknown or lost can be resolved"
        );
        api.sql(&format!("UPDATE run SET state = 4 WHERE id = {}", run["id"])).await;
        let refused = api.post(&path, json!({"outcome": "killed", "note": "x"})).await;
        assert!(refused.error().starts_with("400 invalid outcome: `killed` is not an outcome"));
        let refused = api.post(&path, json!({"outcome": "failed", "note": " "})).await;
        assert_eq!(refused.error(), "400 invalid note: 1 to 500 characters: how you know");
        let resolved = api.post(&path, word).await.ok();
        assert_eq!(
            (&resolved["state"], &resolved["message"]),
            (&json!("succeeded"), &json!("resolved by hand: the file is there"))
        );
        let alarm = &api.get("/alarms?kind=lost").await.ok()["items"][0];
        assert_eq!((&alarm["open"], &alarm["level"]), (&json!(false), &json!(0)));
        assert!(alarm["closed_at"].is_string());
        let audit = api
            .store
            .audit()
            .list(&AuditFilter::about(AuditObjectKind::Run, run["id"].as_i64().unwrap()))
            .await
            .unwrap();
        let entry = &audit.items[0];
        assert_eq!(entry.action, "resolve");
        assert!(entry.detail.contains("\"note\":\"the file is there\""));
        let born = api.get(&format!("/runs?job_id={}", child["id"])).await.ok();
        assert_eq!(born["items"][0]["parent_run_id"], run["id"]);
        api.post("/runs/999/resolve", json!({"outcome": "failed", "note": "x"})).await.error();
    });
}

#[test]
fn a_run_may_be_split_into_parts() {
    api(async |api| {
        let made = api.job(json!({"parts": ["eu", "us"]})).await;
        assert_eq!(made["parts"], json!(["eu", "us"]));
        let path = format!("/jobs/{}/run", made["id"]);
        let run = api.post(&path, json!({"parts": ["a", "b", "c"]})).await.ok();
        let stored = api.store.runs().get(run["id"].as_i64().unwrap()).await.unwrap().unwrap();
        let parts = api.store.runs().parts_to_repeat(&stored).await.unwrap().unwrap();
        assert_eq!(json!(parts), json!(["a", "b", "c"]));
        api.post(&path, json!({"parts": 3, "params": "for all"})).await.ok();
        for (body, why) in [
            (
                json!({"parts": 3}),
                "400 invalid parts: the job lists the parameters of its parts; give a list, or a number and `params` for all parts",
            ),
            (
                json!({"parts": "3"}),
                "400 invalid parts: invalid type: string \"3\", expected a number of parts or a list of texts",
            ),
            (json!({"parts": ["a", 2]}), "400 invalid parts[1]: invalid type: integer `2`, expected a string"),
            (
                json!({"parts": ["a", "b"], "params": ""}),
                "400 invalid parts: is a list, so `params` must be left out: each part gets its own text",
            ),
        ] {
            assert_eq!(api.post(&path, body).await.error(), why);
        }
        let body = json!({"parts": 2, "route": "broadcast"});
        let refused = api.post("/jobs", job(body)).await.error();
        assert_eq!(
            refused,
            "400 invalid parts: cannot be used with the route `broadcast`, which makes a part for each executor"
        );
    });
}
