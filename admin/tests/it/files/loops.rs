//! Best-effort jobs in files.

use serde_json::json;
use tempfile::tempdir;

use super::{file, line, printed, refused, run, with_key};
use crate::api::client::Api;
use crate::services::{Kind, TestDatabase, runtime};

const SCHEDULE: &str = ", durability: best_effort, schedule: {kind: fixed_rate, milliseconds: 50}";

#[test]
fn a_best_effort_job_is_applied_exported_and_unchanged_afterwards() {
    runtime().block_on(async {
        let db = TestDatabase::new(Kind::Sqlite).await;
        let api = Api::start(&db).await;
        let folder = tempdir().unwrap();
        let path = file(folder.path(), &line("poll", SCHEDULE));
        let (code, out, err) = run(&api, &["apply", &path]).await;
        assert_eq!(code, Some(0), "{out}\n{err}");
        let stored = with_key(&api, "poll").await;
        assert_eq!((&stored["durability"], &stored["schedule"]["milliseconds"]), (&json!("best_effort"), &json!(50)));
        printed(&api, 0, &["apply", &path, "--dry-run"]).await;
        printed(&api, 0, &["drift", &path]).await;
        let exported = tempdir().unwrap();
        let target = exported.path().to_str().unwrap();
        printed(&api, 0, &["export", "--to", target, "--set", "billing"]).await;
        printed(&api, 0, &["apply", target, "--dry-run"]).await;
        let text = printed(&api, 0, &["export", "--app", "billing"]).await;
        assert!(text.contains("durability: best_effort") && text.contains("milliseconds: 50"), "{text}");
        let wrong = line("poll", &format!("{SCHEDULE}, retries: 2"));
        let said = refused(&api, &["apply", &file(folder.path(), &wrong)]).await;
        assert!(said.contains("retries: must be 0: a best-effort job has its next fire in their place"), "{said}");
    });
}
