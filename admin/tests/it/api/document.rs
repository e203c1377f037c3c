//! The OpenAPI document is true: what it describes is what is answered.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Api, api};

pub async fn document(api: &Api) -> Value {
    let answer = api.send(api.request(Method::GET, "/openapi.json")).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    answer.ok()
}

/// The members of a job that have a default, with it.
pub fn job_defaults(document: &Value) -> Value {
    let members = document["components"]["schemas"]["JobRequest"]["properties"].as_object().unwrap();
    members.iter().filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone()))).collect()
}

/// The members of an answer are those of its schema, no more and no fewer.
fn same_members(document: &Value, schema: &str, answer: &Value) {
    let schema = &document["components"]["schemas"][schema];
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&schema["properties"]), names(answer));
    let required: BTreeSet<String> = serde_json::from_value(schema["required"].clone()).unwrap();
    assert_eq!(required, names(answer));
}

// covers: 001-45
#[test]
fn the_document_needs_no_token_and_describes_the_answers() {
    api(async |api| {
        let document = document(api).await;
        assert_eq!(document["openapi"], "3.1.0");
        let app = api.post("/apps", json!({"name": "billing"})).await.ok();
        same_members(&document, "App", &app);
        same_members(&document, "AppList", &api.get("/apps").await.ok());
        let executors = format!("/apps/{}/executors", app["id"]);
        api.sql("INSERT INTO executor (app, address, registered_at, seen_at, expires_at) VALUES ('billing', 'http://x:1/', 1, 1, 1)").await;
        let list = api.get(&executors).await.ok();
        same_members(&document, "ExecutorList", &list);
        same_members(&document, "Executor", &list["items"][0]);
        let calendar = json!({"name": "bank", "days": ["2025-12-25"]});
        let calendar = api.post("/calendars", calendar).await.ok();
        same_members(&document, "Calendar", &calendar);
        same_members(&document, "CalendarList", &api.get("/calendars").await.ok());
        let versions = api.get("/calendars/bank/versions").await.ok();
        same_members(&document, "CalendarVersionList", &versions);
        same_members(&document, "CalendarVersion", &versions["items"][0]);
        let job = api.job(json!({})).await;
        same_members(&document, "Job", &job);
        same_members(&document, "JobList", &api.get("/jobs").await.ok());
        same_members(&document, "Preview", &api.get(&format!("/jobs/{}/next", job["id"])).await.ok());
        let schedule = json!({"kind": "fixed_rate", "seconds": 60});
        let preview = api.post("/preview", json!({"schedule": schedule})).await;
        same_members(&document, "Preview", &preview.ok());
        same_members(&document, "Forecast", &api.get("/forecast").await.ok());
        same_members(&document, "Report", &api.get("/reports").await.ok());
        let run = api.post(&format!("/jobs/{}/run", job["id"]), json!({})).await.ok();
        same_members(&document, "Run", &run);
        same_members(&document, "RunList", &api.get("/runs").await.ok());
        let later = api.post(&format!("/jobs/{}/run", job["id"]), json!({"delay_seconds": 60})).await.ok();
        same_members(&document, "ScheduledRun", &later);
        let scheduled = api.get(&format!("/jobs/{}/scheduled", job["id"])).await.ok();
        same_members(&document, "ScheduledRunList", &scheduled);
        let many = api.post(&format!("/jobs/{}/run-many", job["id"]), json!({"runs": [{"delay_seconds": 60}]})).await;
        same_members(&document, "RunMany", &many.ok());
        same_members(&document, "Log", &api.get(&format!("/runs/{}/log", run["id"])).await.ok());
        same_members(&document, "Kill", &api.post(&format!("/runs/{}/kill", run["id"]), json!({})).await.ok());
        api.sql("INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES (1, 1, 1, 1, 'skip', 'misfire', 1)").await;
        let misfires = api.get("/misfires").await.ok();
        same_members(&document, "Misfire", &misfires["items"][0]);
        same_members(&document, "MisfireList", &misfires);
        let error = api.get("/jobs/999").await.json;
        same_members(&document, "Error", &error);
        let codes = &document["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"];
        assert!(codes.as_array().unwrap().contains(&error["error"]["code"]));
    });
}

// covers: 6.20
#[test]
fn the_documented_defaults_are_the_true_ones() {
    api(async |api| {
        let document = document(api).await;
        let schemas = &document["components"]["schemas"];
        let members = |schema: &str| schemas[schema]["properties"].as_object().unwrap().clone();
        // What is answered can be sent back: the update takes every member of the answer.
        let answered: BTreeSet<_> = members("Job").keys().cloned().collect();
        let taken: BTreeSet<_> = members("JobUpdate").keys().cloned().collect();
        assert_eq!(answered, taken);
        // The defaults are the true ones.
        let made = api.job(json!({})).await;
        let required = &schemas["JobRequest"]["required"];
        for (name, schema) in members("JobRequest") {
            if required.as_array().unwrap().contains(&json!(name)) {
                continue;
            }
            let default =
                schema.get("default").unwrap_or_else(|| panic!("{name} is optional and has no documented default"));
            assert_eq!(*default, made[&name], "{name}");
        }
    });
}
