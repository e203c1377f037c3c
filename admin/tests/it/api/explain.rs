//! The story of one instant, as data.

use serde_json::json;

use super::client::{api, job};

#[test]
fn an_instant_is_explained_or_refused_with_what_would_be_right() {
    api(async |api| {
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let made = api.post("/jobs", job(json!({"schedule": {"kind": "fixed_rate", "seconds": 60}}))).await.ok();
        let path = |at: &str| format!("/jobs/{}/explain?at={at}", made["id"]);
        let found = api.get(&path("2025-10-09T10:59:00.000Z")).await.ok();
        assert_eq!((&found["verdict"], &found["revision"]), (&json!("not_planned"), &json!(1)), "{found}");
        assert!(found["story"][0].as_str().unwrap().contains("will be an instant"), "{found}");
        let none = api.get(&path("2025-10-09T10:59:07Z")).await.ok();
        assert_eq!((&none["verdict"], &none["runs"]), (&json!("no_instant"), &json!([])));
        assert!(none["before"].is_string() && none["after"].is_string(), "{none}");
        assert_eq!(api.get(&format!("/jobs/{}/explain", made["id"])).await.status, 400);
        assert_eq!(api.get("/jobs/999/explain?at=2025-10-09T10:59:00Z").await.status, 404);
    });
}

// covers: A11
#[test]
fn a_run_that_was_started_by_hand_is_found_by_its_time() {
    api(async |api| {
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let made =
            api.post("/jobs", job(json!({"schedule": {"kind": "cron", "expression": "0 0 3 1 1 ?"}}))).await.ok();
        let run = api.post(&format!("/jobs/{}/run", made["id"]), json!({})).await.ok();
        let run = api.get(&format!("/runs/{}", run["id"])).await.ok();
        let at = run["scheduled_at"].as_str().unwrap();
        let found = api.get(&format!("/jobs/{}/explain?at={at}", made["id"])).await.ok();
        assert_eq!(found["verdict"], "before_job", "the clock of this test stands still: {found}");
        assert_eq!(found["runs"][0]["run"]["id"], run["id"], "{found}");
        let story = found["story"].to_string();
        assert!(story.contains("started over the API at that time"), "{story}");
    });
}
