//! Runs that are due later.

use serde_json::{Value, json};

use crate::api::client::{NOW, api};
use carillon_engine::manage::MAX_DELAY_SECONDS;
use reqwest::Method;

#[test]
fn a_run_is_scheduled_moved_listed_and_cancelled() {
    api(async |api| {
        let job = api.job(json!({})).await;
        let path = format!("/jobs/{}/run", job["id"]);
        let body = json!({"at": "2025-10-09T12:00:00+02:00", "params": "x", "expires_after_seconds": 60});
        let made = api.post(&path, body).await.ok();
        let expected = json!({
            "id": made["id"], "job_id": job["id"], "app": "billing", "job": "Close the day", "cause": "delayed",
            "state": "scheduled", "scheduled_at": "2025-10-09T10:00:00.000Z", "due_at": "2025-10-09T10:00:00.000Z",
            "expires_at": "2025-10-09T10:01:00.000Z", "created_at": "2025-10-09T08:54:00.400Z", "params": "x",
            "address": null,
        });
        assert_eq!(made, expected);
        let later = api.post(&path, json!({"delay_seconds": 5})).await.ok();
        assert_eq!((&later["due_at"], &later["expires_at"]), (&json!("2025-10-09T08:54:05.400Z"), &Value::Null));
        let list = format!("/jobs/{}/scheduled", job["id"]);
        assert_eq!(api.get(&list).await.column("id"), [later["id"].clone(), made["id"].clone()]);
        let page = api.get(&format!("{list}?limit=1")).await.ok();
        let next = page["next"].as_str().unwrap();
        assert_eq!(api.get(&format!("{list}?limit=1&after={next}")).await.column("id"), [made["id"].clone()]);
        assert_eq!(api.get(&format!("{list}?to=2025-10-09T09:00:00Z")).await.column("id"), [later["id"].clone()]);
        let one = format!("/runs/{}", made["id"]);
        let patch = api.request(Method::PATCH, &one).bearer_auth(&api.token);
        let moved = api.send(patch.json(&json!({"at": "2025-10-10T00:00:00Z"}))).await.ok();
        assert_eq!(moved["due_at"], "2025-10-10T00:00:00.000Z");
        assert_eq!(moved["expires_at"], "2025-10-10T00:01:00.000Z");
        assert_eq!(api.get("/audit?action=update").await.column("object_id"), [made["id"].clone()]);
        assert_eq!(api.get(&one).await.ok(), moved);
        let killed = api.post(&format!("{one}/kill"), Value::Null).await.ok();
        assert_eq!(killed, json!({"outcome": "cancelled"}));
        let run = api.get(&one).await.ok();
        assert_eq!((&run["state"], &run["cause"]), (&json!("cancelled"), &json!("delayed")));
        assert_ne!(run["id"], made["id"], "the run has a number of its own");
        assert_eq!(run["scheduled_id"], made["id"]);
        let patch = api.request(Method::PATCH, &one).bearer_auth(&api.token);
        let refused = api.send(patch.json(&json!({"at": "2025-10-11T00:00:00Z"}))).await;
        let told = "409 unusable the run is cancelled; only a run that is scheduled can be moved or called off";
        assert_eq!(refused.error(), told);
    });
}

#[test]
fn many_runs_are_recorded_by_one_request_and_a_repeated_key_finds_them() {
    api(async |api| {
        let job = api.job(json!({})).await;
        let path = format!("/jobs/{}/run-many", job["id"]);
        let runs: Vec<Value> =
            (0..1_000).map(|n| json!({"delay_seconds": 3_600 + n, "params": n.to_string()})).collect();
        let made = api.post_with_key(&path, "month-end", json!({"runs": runs})).await.ok();
        assert_eq!((made["is_new"].clone(), made["ids"].as_array().unwrap().len()), (json!(true), 1_000));
        let again = api.post_with_key(&path, "month-end", json!({"runs": runs})).await.ok();
        assert_eq!(again, json!({"is_new": false, "ids": made["ids"]}));
        for others in [&runs[1..], &runs[..999]] {
            let refused = api.post_with_key(&path, "month-end", json!({"runs": others})).await;
            assert_eq!(refused.error(), "409 changed this idempotency key was sent before with another request");
        }
        // Before all other checks.
        let wrong = api.post_with_key(&path, "month-end", json!({"runs": [{"address": "http://10.0.0.1:1"}]})).await;
        assert_eq!(wrong.status, 409);
        let list = format!("/jobs/{}/scheduled?limit=1000", job["id"]);
        assert_eq!(json!(api.get(&list).await.column("id")), made["ids"], "in the order of the request");
        assert_eq!(
            api.get("/audit?action=run").await.column("object_id"),
            [job["id"].clone()],
            "one entry for the request"
        );
        // Now and then: what is due now is a run of the same kind.
        let now = api.post(&path, json!({"runs": [{}, {"at": "2020-01-01T00:00:00Z"}]})).await.ok();
        let first = api.get(&format!("/runs/{}", now["ids"][0])).await.ok();
        assert_eq!(first["due_at"], "2025-10-09T08:54:00.400Z");
        assert_eq!(NOW, 1_760_000_040_400);
    });
}

#[test]
fn what_is_wrong_with_a_time_is_named() {
    api(async |api| {
        let job = api.job(json!({})).await;
        let path = format!("/jobs/{}/run", job["id"]);
        for (body, told) in [
            (
                json!({"at": "2026-01-01T00:00:00Z", "delay_seconds": 5}),
                "at: must be left out, or `delay_seconds` must: one of them says when",
            ),
            (json!({"at": "2031-01-01T00:00:00Z"}), "at: must be at most five years ahead"),
            (json!({"delay_seconds": -1}), "delay_seconds: must be 0 to 158112000, which is about five years"),
            (
                json!({"expires_after_seconds": 5}),
                "expires_after_seconds: must be left out: the run is due now; it goes with `at` or `delay_seconds`",
            ),
            (json!({"delay_seconds": 5, "expires_after_seconds": 0}), "expires_after_seconds: must be 1 to 158112000"),
        ] {
            assert_eq!(api.post(&path, body).await.error(), format!("400 invalid {told}"));
        }
        assert_eq!(MAX_DELAY_SECONDS, 158_112_000, "as the document says");
        let many = format!("/jobs/{}/run-many", job["id"]);
        let wrong = json!({"runs": [{}, {"delay_seconds": -1}, {"params": "x".repeat(65_537)}, {"at": "2026-01-01T00:00:00Z", "delay_seconds": 5}, {"address": "http://10.0.0.1:1"}]});
        let errors = api.post(&many, wrong).await.json["error"]["errors"].clone();
        let fields: Vec<&Value> = errors.as_array().unwrap().iter().map(|fault| &fault["field"]).collect();
        assert_eq!(fields, ["runs[1].delay_seconds", "runs[2].params", "runs[3].at", "runs[4].address"]);
        let both = json!({"runs": [{"at": "2026-01-01T00:00:00Z", "delay_seconds": 5}]});
        assert_eq!(api.post(&many, both).await.json["error"]["field"], "runs[0].at");
        for count in [0, 1_001] {
            let runs = json!({"runs": vec![json!({}); count]});
            assert_eq!(api.post(&many, runs).await.error(), "400 invalid runs: must have 1 to 1000 items");
        }
        assert_eq!(api.post("/jobs/999/run-many", json!({"runs": [{}]})).await.status, 404);
        assert_eq!(api.get(&format!("/jobs/{}/scheduled", job["id"])).await.column("id").len(), 0);
    });
}
