//! Best-effort jobs, whose fires are no runs.

use serde_json::json;

use crate::api::client::api;

#[test]
fn a_best_effort_job_has_a_loop_in_place_of_runs() {
    api(async |api| {
        let schedule = json!({"kind": "fixed_rate", "milliseconds": 50});
        let made = api.job(json!({"durability": "best_effort", "schedule": schedule})).await;
        assert_eq!((&made["durability"], &made["schedule"]["milliseconds"]), (&json!("best_effort"), &json!(50)));
        assert_eq!((&made["schedule"]["kind"], &made["next_fire_at"]), (&json!("fixed_rate"), &json!(null)));
        let found = api.get(&format!("/jobs/{}/loop", made["id"])).await.ok();
        let expected = json!({"job_id": made["id"], "state": "waiting", "epoch": 0, "executor": "", "granted_at": null, "reported_at": null,
            "expires_at": null, "last_fired_at": null, "last_failure": null, "lateness": [], "runs": [], "failures": [],
            "history_error": "no executor has the loop"});
        for (member, value) in expected.as_object().unwrap() {
            assert_eq!(found[member], *value, "{member}");
        }
        assert_eq!(found["totals"]["fired"], 0);
        let durable = api.job(json!({"name": "Durable", "schedule": {"kind": "none"}})).await;
        let none = api.get(&format!("/jobs/{}/loop", durable["id"])).await.error();
        assert_eq!(none, format!("404 not_found job {} has no loop: its fires are runs", durable["id"]));
        // An answer is sent back as it is.
        let again = api.put(&format!("/jobs/{}", made["id"]), made.clone()).await.ok();
        assert_eq!(again["schedule"], made["schedule"]);
        // Its lease is still there, and nothing goes on.
        let schedule = json!({"kind": "fixed_rate", "seconds": 60});
        let changed = json!({"app": "billing", "name": again["name"], "handler": again["handler"], "durability": "durable", "schedule": schedule});
        api.put(&format!("/jobs/{}", made["id"]), changed).await.ok();
        let none = api.get(&format!("/jobs/{}/loop", made["id"])).await.error();
        assert_eq!(none, format!("404 not_found job {} has no loop: its fires are runs", made["id"]));
    });
}

#[test]
fn what_needs_records_of_fires_is_refused_with_its_member() {
    api(async |api| {
        api.job(json!({})).await;
        let body = json!({"app": "billing", "name": "n", "handler": "h", "durability": "best_effort", "schedule": {"kind": "none"},
            "catch_up": "latest", "misfire": "skip", "overlap": "skip", "retries": 1, "priority": 5, "flag_after_seconds": 5,
            "pause_after_failures": 3, "route": "broadcast", "params": "{{secret.TOKEN}}", "start_within_seconds": 5});
        let answer = api.post("/jobs", body).await;
        assert_eq!(answer.status, 400);
        let errors = answer.json["error"]["errors"].as_array().unwrap();
        let mut fields: Vec<&str> = errors.iter().filter_map(|it| it["field"].as_str()).collect();
        fields.sort_unstable();
        fields.dedup();
        let expected = [
            "catch_up",
            "flag_after_seconds",
            "misfire",
            "overlap",
            "params",
            "pause_after_failures",
            "priority",
            "retries",
            "route",
            "schedule",
            "start_within_seconds",
        ];
        assert_eq!(fields, expected);
        let fast = json!({"app": "billing", "name": "n", "handler": "h", "schedule": {"kind": "fixed_rate", "milliseconds": 50}});
        let durable = api.post("/jobs", fast).await.error();
        assert!(durable.starts_with("400 invalid schedule.milliseconds: is for best-effort jobs"), "{durable}");
    });
}
