//! How long runs are kept, set for all, for an app, for a job.

use serde_json::json;

use super::client::{api, job};

#[test]
fn a_job_keeps_its_runs_as_the_narrowest_rule_says() {
    api(async |api| {
        let app = api.post("/apps", json!({"name": "billing"})).await.ok();
        let made = api.post("/jobs", job(json!({}))).await.ok();
        let (of_app, of_job) = (format!("/apps/{}/retention", app["id"]), format!("/jobs/{}/retention", made["id"]));
        let shown = api.get(&of_job).await.ok();
        assert_eq!(shown["in_force"], json!({"days": 30, "failure_days": 90, "failures": 10, "runs": 0}));
        assert_eq!(shown["days"], json!(null));
        api.put(&of_app, json!({"days": 7})).await.ok();
        api.put("/retention", json!({"days": 60, "failures": 3})).await.ok();
        let set = api.put(&of_job, json!({"runs": 100})).await.ok();
        assert_eq!(set["in_force"], json!({"days": 7, "failure_days": 90, "failures": 3, "runs": 100}));
        let refused = api.put(&of_job, json!({"days": -1})).await;
        assert_eq!(refused.status, 400);
        assert_eq!(api.put(&of_job, json!({"days": "many"})).await.status, 400);
        assert_eq!(api.put(&of_job, json!({"weeks": 1})).await.status, 400);
        assert_eq!(api.get("/jobs/999/retention").await.status, 404);
        assert_eq!(api.get(&format!("/jobs/{}/days", made["id"])).await.ok()["items"], json!([]));
    });
}
