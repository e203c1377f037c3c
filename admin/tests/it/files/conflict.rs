//! A job changes between the plan and its execution.

use serde_json::json;
use tempfile::tempdir;

use super::wire::wire;
use super::{command, file, line, printed, with_key};
use crate::api::client::api;

// covers: J10
#[test]
fn a_conflict_leaves_nothing_that_a_second_run_does_not_finish() {
    api(async |api| {
        let folder = tempdir().unwrap();
        printed(api, 0, &["apply", &file(folder.path(), &[line("a", ""), line("b", "")].concat())]).await;
        let jobs = [line("a", ", retries: 1"), line("b", ", retries: 1, children: [c]"), line("c", "")].concat();
        let path = file(folder.path(), &jobs);
        let (mut a, other) = (with_key(api, "a").await, (**api).clone());
        let edit = async move {
            a["owner"] = json!("Ada");
            other.put(&format!("/jobs/{}", a["id"]), a).await.ok();
        };
        let url = wire(api.address(), "PUT /api/v1/jobs/", edit).await;
        let (code, out, err) = command(&url, &api.token, &["apply", &path]).await;
        assert_eq!((code, &*out), (Some(1), "+ billing/c: Job c\n"), "{err}");
        assert!(err.contains("1 of 3 changes were made; apply again to make the others"), "{err}");
        assert!(err.contains("billing/a: changed since the plan"), "{err}");
        assert_eq!(with_key(api, "a").await["owner"], "Ada", "the other change was not overwritten unseen");

        let planned = printed(api, 2, &["apply", &path, "--dry-run"]).await;
        assert!(planned.contains("~ owner: \"Ada\" → \"\""), "{planned}");
        let done = printed(api, 0, &["apply", &path]).await;
        assert!(done.ends_with("0 created, 2 changed, 0 deleted, 1 unchanged\n"), "{done}");
        assert_eq!(printed(api, 0, &["apply", &path]).await, "0 created, 0 changed, 0 deleted, 3 unchanged\n");
    });
}

// covers: J11
#[test]
fn a_key_that_was_taken_meanwhile_is_refused() {
    api(async |api| {
        let folder = tempdir().unwrap();
        printed(api, 0, &["apply", &file(folder.path(), &line("a", ""))]).await;
        let path = file(folder.path(), &[line("a", ""), line("b", ""), line("c", "")].concat());
        let other = (**api).clone();
        let taken = async move {
            other.post("/jobs", json!({"app": "billing", "key": "c", "name": "n", "handler": "h"})).await.ok();
        };
        let url = wire(api.address(), "POST /api/v1/jobs:batch", taken).await;
        let (code, _, err) = command(&url, &api.token, &["apply", &path]).await;
        assert_eq!((code, err.contains(":8: billing/c: key: job ")), (Some(1), true), "{err}");
        assert_eq!(with_key(api, "b").await["error"]["code"], "not_found", "a batch is whole or not at all");
        let done = printed(api, 0, &["apply", &path, "--adopt"]).await;
        assert!(done.ends_with("1 created, 1 changed, 0 deleted, 1 unchanged\n"), "{done}");
    });
}
