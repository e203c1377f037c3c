//! What was changed past the files.

use serde_json::{Value, json};
use tempfile::tempdir;

use super::{file, line, printed, with_key};
use crate::api::client::{api, job};
use crate::program::{carillon, ended};

// covers: J8
#[test]
fn drift_names_what_differs_and_who_changed_it() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let path = file(folder.path(), &[line("a", ""), line("b", ", enabled: true")].concat());
        printed(api, 0, &["apply", &path]).await;
        assert_eq!(printed(api, 0, &["drift", &path]).await, "= 2 jobs without a change\n");
        let id = with_key(api, "b").await["id"].clone();
        api.post(&format!("/jobs/{id}/disable"), json!({})).await.ok();
        let shown = printed(api, 0, &["drift", &path]).await;
        assert!(shown.contains("billing/b is paused and stays so against the file"), "{shown}");
        let mut a = with_key(api, "a").await;
        a["retries"] = json!(3);
        api.put(&format!("/jobs/{}", a["id"]), a).await.ok();
        api.post("/jobs", job(json!({"key": "new", "set": "billing"}))).await.ok();
        let shown = printed(api, 2, &["drift", &path]).await;
        assert!(shown.contains("~ billing/a: Job a\n    ~ retries: 3 → 0\n- billing/new: Close the day\n"), "{shown}");
        assert!(shown.contains("  billing/a was changed last by api-token at 2025-10-09T"), "{shown}");
        let shown: Value = serde_json::from_str(&printed(api, 2, &["drift", &path, "--output", "json"]).await).unwrap();
        assert_eq!(shown["jobs"].as_array().unwrap().len(), 2);
        // The next apply puts it back.
        printed(api, 0, &["apply", &path, "--prune"]).await;
        assert_eq!(with_key(api, "a").await["retries"], 0);
        printed(api, 0, &["drift", &path]).await;
    });
}

// covers: J9
#[test]
fn the_schema_describes_a_file() {
    let (code, out, err) = ended(carillon(&["schema"]));
    assert_eq!(code, Some(0), "{err}");
    let schema: Value = serde_json::from_str(&out).unwrap();
    let job = &schema["$defs"]["Job"];
    assert_eq!(job["required"], json!(["app", "key", "name"]));
    let one_of: Vec<&Value> = job["anyOf"].as_array().unwrap().iter().map(|way| &way["required"][0]).collect();
    assert_eq!(one_of, ["handler", "script", "workflow", "http"]);
    let pattern = &schema["$defs"]["WorkflowNodeDefinition"]["properties"]["job"]["pattern"];
    assert!(pattern.is_string(), "a node names its job by key");
    assert_eq!(job["additionalProperties"], false);
    for member in ["children", "moved", "schedule", "retry_delay", "enabled", "workflow"] {
        assert!(job["properties"][member].is_object(), "{member}");
    }
    assert!(job["properties"]["set"].is_null() && job["properties"]["id"].is_null());
    let references =
        out.match_indices("\"$ref\": \"").map(|(at, found)| out[at + found.len()..].split('"').next().unwrap());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(schema.pointer(pointer).is_some(), "{reference}");
    }
}
