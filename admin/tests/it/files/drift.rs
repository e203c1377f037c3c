//! What was changed past the files.

use serde_json::{Value, json};
use tempfile::tempdir;

use carillon_scheduler::Millis;
use carillon_store::DeclaredState;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::app::executors::Executor;

use super::{file, line, printed, refused, with_key};
use crate::api::client::{NOW, api, job};
use crate::conformance::hot::executor::beat;
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

#[test]
fn drift_of_declared_jobs_is_printed_without_a_file() {
    api(async |api| {
        let app = api.post("/apps", json!({"name": "shipping"})).await.ok()["id"].as_i64().unwrap();
        assert_eq!(printed(api, 0, &["drift"]).await, "= 0 declared jobs without a difference\n");
        let mut row = DeclaredJob {
            job_key: "pack".to_owned(),
            was: String::new(),
            job_id: None,
            state: DeclaredState::Applied,
            build: "shipping 1.0".to_owned(),
            policy: "adopt".to_owned(),
            place: "src/jobs.rs:7".to_owned(),
            code: "{}".to_owned(),
            base: "{}".to_owned(),
            report: "[]".to_owned(),
            problem: String::new(),
            changed_at: NOW,
            orphan_at: None,
        };
        api.store.declarations().write_job(app, "pack", &row).await.unwrap();
        assert_eq!(printed(api, 0, &["drift"]).await, "= 1 declared job without a difference\n");
        row.state = DeclaredState::Overridden;
        row.report = r#"[{"member":"retries","code":2,"here":5,"since":1760000040400}]"#.to_owned();
        api.store.declarations().write_job(app, "pack", &row).await.unwrap();
        let shown = printed(api, 2, &["drift", "--app", "shipping"]).await;
        let expected = "! shipping/pack: overridden since 2025-10-09T08:54:00.400Z, declared by shipping 1.0 at src/jobs.rs:7\n    \
                        retries: code 2, here 5\n= 0 declared jobs without a difference\n";
        assert_eq!(shown, expected);
        let shown: Value = serde_json::from_str(&printed(api, 2, &["drift", "--output", "json"]).await).unwrap();
        assert_eq!(shown["jobs"][0]["job"]["differences"][0]["code"], 2);
        row.state = DeclaredState::Applied;
        api.store.declarations().write_job(app, "pack", &row).await.unwrap();
        let app = api.store.apps().get(app).await.unwrap().unwrap();
        let (problem, build) = ("job pack: `colour` cannot be declared".to_owned(), "shipping 2.0".to_owned());
        let declaration = Declaration { digest: "d".to_owned(), build, first_seen_at: NOW, problem };
        api.store.declarations().add(&app, &declaration, "").await.unwrap();
        let live = beat("http://x:1/", Some("boot"), NOW);
        let live = Executor { app: "shipping".to_owned(), expires_at: Millis::MAX, ..live };
        api.store.apps().register_executor(&live).await.unwrap();
        api.store.declarations().announce("shipping", "http://x:1/", "d").await.unwrap();
        let shown = printed(api, 2, &["drift", "--app", "shipping"]).await;
        let expected = "! shipping: the declaration of shipping 2.0 is refused: job pack: `colour` cannot be declared\n\
                        = 1 declared job without a difference\n";
        assert_eq!(shown, expected);
        assert!(refused(api, &["drift", "--app", "nowhere"]).await.contains("there is no app nowhere"));
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
