//! Workflows in files: jobs of nodes by keys, and the graph compared by node.

use std::collections::BTreeMap;
use std::fs;

use carillon_testkit::ApiClient;
use serde_json::{Value, json};
use tempfile::tempdir;

use super::{file, line, printed, refused, run, with_key};
use crate::api::client::{Api, api};
use crate::services::{Kind, TestDatabase, runtime};

/// A workflow of the jobs `a` and `b`, with the rest of its nodes.
fn workflow(key: &str, nodes: &str) -> String {
    format!("  - app: billing\n    key: {key}\n    name: {key}\n    workflow:\n      nodes:\n{nodes}")
}

const TWO: &str = "        first: {job: a}\n        second:\n          job: billing/b\n          after: [{node: first, when: [{path: /rows, gt: 0}]}]\n";

async fn filled(api: &ApiClient) {
    let shipping = api.post("/apps", json!({"name": "shipping"})).await.ok();
    api.post("/apps", json!({"name": "billing", "title": "Billing"})).await.ok();
    api.put(&format!("/apps/{}/starters", shipping["id"]), json!({"apps": ["billing"]})).await.ok();
    let job = |app: &str, key: &str| json!({"app": app, "key": key, "name": "Load the day", "handler": "load"});
    let made = api.post("/jobs:batch", json!([job("shipping", "send"), job("billing", "")])).await.ok();
    let nodes = json!({
        "load": {"job": made["items"][1]["id"], "params": "{{workflow.params}}"},
        "note": {"job": "shipping/send", "after": [{"node": "load", "when": [{"path": "/rows", "in": [0, "0", null, 1.5]}]}]},
        "tidy": {"job": made["items"][1]["id"], "after": [{"node": "note", "on": "always"}, "load"], "join": "any", "if_failed": "ignore"},
    });
    let graph = json!({"output": "{{nodes.load.result}}", "nodes": nodes});
    api.post("/jobs", json!({"app": "billing", "key": "day", "name": "Day", "workflow": graph, "handler": ""}))
        .await
        .ok();
    let outer = json!({"nodes": {"day": {"job": "day"}}});
    api.post("/jobs", json!({"app": "billing", "key": "all", "name": "All", "workflow": outer, "handler": ""}))
        .await
        .ok();
}

/// The jobs of the nodes of `day`, as `app/key`.
async fn jobs_of_nodes(api: &ApiClient) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let day = with_key(api, "day").await;
    for (name, node) in day["workflow"]["nodes"].as_object().unwrap() {
        let job = api.get(&format!("/jobs/{}", node["job"])).await.ok();
        found.insert(name.clone(), format!("{}/{}", job["app"].as_str().unwrap(), job["key"].as_str().unwrap()));
    }
    found
}

// covers: J1
#[test]
fn a_workflow_is_exported_into_an_empty_installation() {
    runtime().block_on(async {
        let (first, second) = (TestDatabase::new(Kind::Sqlite).await, TestDatabase::new(Kind::Sqlite).await);
        let (from, to) = (Api::start(&first).await, Api::start(&second).await);
        filled(&from).await;
        let (folder, again) = (tempdir().unwrap(), tempdir().unwrap());
        let (exported, second_export) = (folder.path().to_str().unwrap(), again.path().to_str().unwrap());
        let said = refused(&from, &["export", "--app", "billing"]).await;
        assert!(said.contains("billing/day runs the job ") && said.contains("--add-keys"), "{said}");
        printed(&from, 0, &["export", "--to", exported, "--set", "all", "--add-keys"]).await;
        let text = fs::read_to_string(folder.path().join("billing.yaml")).unwrap();
        for part in ["job: load-the-day\n", "job: shipping/send\n", "in: [0, \"0\", null, 1.5]\n", "job: day\n"] {
            assert!(text.contains(part), "{part}\n{text}");
        }

        let shipping = to.post("/apps", json!({"name": "shipping"})).await.ok();
        to.post("/apps", json!({"name": "billing"})).await.ok();
        to.put(&format!("/apps/{}/starters", shipping["id"]), json!({"apps": ["billing"]})).await.ok();
        let planned = printed(&to, 2, &["apply", exported, "--dry-run"]).await;
        assert!(planned.contains("    + workflow.nodes.note: {\"after\":[{\"node\":\"load\""), "{planned}");
        let done = printed(&to, 0, &["apply", exported]).await;
        assert!(done.ends_with("4 created, 0 changed, 0 deleted, 0 unchanged\n"), "{done}");
        assert_eq!(jobs_of_nodes(&to).await, jobs_of_nodes(&from).await);

        let done = printed(&to, 0, &["apply", exported, "--prune"]).await;
        assert_eq!(done, "0 created, 0 changed, 0 deleted, 4 unchanged\n");
        let (code, ..) = run(&to, &["drift", exported]).await;
        assert_eq!(code, Some(0));
        printed(&to, 0, &["export", "--to", second_export]).await;
        for app in ["billing.yaml", "shipping.yaml"] {
            let text = |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join(app)).unwrap();
            assert_eq!(text(&again), text(&folder));
        }
        // Parameters of nodes are left out with those of jobs, and such a file is refused.
        let redacted = printed(&to, 0, &["export", "--app", "billing", "--params", "redacted"]).await;
        assert!(!redacted.contains("{{"), "{redacted}");
        let path = folder.path().join("redacted.yaml");
        fs::write(&path, redacted).unwrap();
        let said = refused(&to, &["apply", path.to_str().unwrap()]).await;
        assert!(said.contains("billing/day: workflow.nodes.load.params: an export left it out"), "{said}");
        assert!(said.contains("billing/day: workflow.output: an export left it out"), "{said}");
    });
}

// covers: J3, J8
#[test]
fn a_graph_is_compared_node_by_node() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let jobs = [line("a", ""), line("b", "")].concat();
        let path = file(folder.path(), &format!("{}{jobs}", workflow("day", TWO)));
        let planned = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        let added = "    + workflow.nodes.first: {\"job\":\"billing/a\"}\n    + workflow.nodes.second: {\"after\":[";
        assert!(planned.contains(added), "{planned}");
        // The jobs of the nodes first, though the file has them behind the workflow.
        let done = printed(api, 0, &["apply", &path]).await;
        assert!(done.contains("+ billing/b: Job b\n+ billing/day: day\n"), "{done}");
        assert_eq!(with_key(api, "day").await["workflow"]["nodes"]["second"]["after"][0]["when"][0]["gt"], 0);

        let changed =
            TWO.replace("[{node: first, when: [{path: /rows, gt: 0}]}]", "[first]").replace("job: a", "job: b");
        let path = file(folder.path(), &format!("{}{jobs}", workflow("day", &changed)));
        let shown = printed(api, 2, &["drift", &path]).await;
        let expected = "~ billing/day: day\n    ~ workflow.nodes.first.job: \"billing/a\" → \"billing/b\"\n    ~ workflow.nodes.second.after: \
             [{\"node\":\"first\",\"when\":[{\"gt\":0,\"path\":\"/rows\"}]}] → [\"first\"]\n=";
        assert!(shown.starts_with(expected), "{shown}");
        let path = file(folder.path(), &[jobs, line("day", "")].concat());
        let shown = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        assert!(
            shown.contains("    - workflow.nodes.first: {\"job\":\"billing/a\"}\n    - workflow.nodes.second: {"),
            "{shown}"
        );
        printed(api, 0, &["apply", &path]).await;
        assert_eq!(with_key(api, "day").await["workflow"], Value::Null);
    });
}

// covers: J2
#[test]
fn wrong_nodes_are_named_with_their_lines() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let nodes = "        one: {job: 17}\n        two: {job: none}\n        three: {job: a, joins: any}\n        four: {job: a, after: [{node: one, on: succes}]}\n";
        let path = file(folder.path(), &[workflow("day", nodes), line("a", "")].concat());
        let said = refused(api, &["apply", &path]).await;
        for fault in [
            ":11: billing/day: workflow.nodes.one.job: 17 is the number of a job on one server; name it by its key",
            ":13: billing/day: workflow.nodes.three.joins: unknown field `joins`",
            ":14: billing/day: workflow.nodes.four.after[0].on: `succes` is not a kind of edge",
        ] {
            assert!(said.contains(&format!("{path}{fault}")), "{fault}\n{said}");
        }
        assert!(said.contains("3 faults; nothing was changed"), "{said}");

        let path = file(folder.path(), &[workflow("day", "        two: {job: none}\n"), line("a", "")].concat());
        let said = refused(api, &["apply", &path]).await;
        let fault = ":11: billing/day: workflow.nodes.two.job: there is no job billing/none, neither in the files nor on the server";
        assert!(said.contains(&format!("{path}{fault}")), "{said}");

        // A circle through a child and a node.
        let jobs = [workflow("day", "        one: {job: a}\n"), line("a", ", children: [day]")].concat();
        let path = file(folder.path(), &jobs);
        let said = refused(api, &["apply", &path]).await;
        let fault = ":11: billing/day: workflow.nodes.one.job: the jobs start each other: billing/a → billing/day";
        assert!(said.contains(&format!("{path}{fault}")), "{said}");
        assert_eq!(api.get("/jobs").await.column("id").len(), 0);
    });
}

// covers: J7
#[test]
fn a_workflow_is_deleted_before_the_jobs_of_its_nodes() {
    api(async |api| {
        let folder = tempdir().unwrap();
        let jobs = [line("a", ""), line("b", ""), workflow("day", TWO), line("rest", "")].concat();
        printed(api, 0, &["apply", &file(folder.path(), &jobs)]).await;
        // A node's job alone is not pruned.
        let path = file(folder.path(), &[line("b", ""), workflow("day", TWO), line("rest", "")].concat());
        let said = refused(api, &["apply", &path, "--prune"]).await;
        assert!(said.contains("workflow.nodes.first.job: there is no job billing/a"), "{said}");
        let path = file(folder.path(), &line("rest", ""));
        let done = printed(api, 0, &["apply", &path, "--prune", "--prune-limit", "3"]).await;
        assert!(done.starts_with("- billing/day: day\n- billing/"), "{done}");
        assert!(done.ends_with("0 created, 0 changed, 3 deleted, 1 unchanged\n"), "{done}");
    });
}
