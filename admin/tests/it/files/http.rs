//! HTTP jobs in files: all members, and nothing of a secret but its name.

use serde_json::json;
use tempfile::tempdir;

use super::{file, printed, refused, run, with_key};
use crate::api::client::Api;
use crate::services::{Kind, TestDatabase, runtime};

const MEMBERS: &str = r#"  - app: billing
    key: close
    name: Close
    http:
      method: PUT
      url: https://api.example.com/{{scheduled_at|%F}}
      headers: {X-Key: "{{secret.KEY}}", X-Number: 7}
      body: '{"all": {{json params}}}'
      expect:
        status: 200-299, 404
        body: {path: /rows, gt: 0}
      timeout_seconds: 20
      callback_seconds: 600
      auth: {hmac: SIGN}
      idempotent: true
"#;

// covers: 001-44, J1
#[test]
fn a_request_is_applied_exported_and_unchanged_afterwards() {
    runtime().block_on(async {
        let db = TestDatabase::new(Kind::Sqlite).await;
        let api = Api::start(&db).await;
        let folder = tempdir().unwrap();
        let path = file(folder.path(), MEMBERS);
        let (code, out, err) = run(&api, &["apply", &path]).await;
        assert_eq!(code, Some(0), "{out}\n{err}");
        let http = json!({
            "method": "PUT", "url": "https://api.example.com/{{scheduled_at|%F}}",
            "headers": {"X-Key": "{{secret.KEY}}", "X-Number": "7"}, "body": "{\"all\": {{json params}}}",
            "expect": {"status": "200-299, 404", "body": {"path": "/rows", "gt": 0}}, "timeout_seconds": 20,
            "callback_seconds": 600, "auth": {"hmac": "SIGN"}, "idempotent": true
        });
        let stored = with_key(&api, "close").await;
        assert_eq!((&stored["http"], &stored["handler"]), (&http, &json!("")));
        let exported = tempdir().unwrap();
        let target = exported.path().to_str().unwrap();
        printed(&api, 0, &["export", "--to", target, "--set", "billing"]).await;
        printed(&api, 0, &["apply", target, "--dry-run"]).await;
        let redacted = printed(&api, 0, &["export", "--app", "billing", "--params", "redacted"]).await;
        assert!(redacted.contains("https://api.example.com/<redacted>") && !redacted.contains("{{"), "{redacted}");
        std::fs::write(&path, redacted).unwrap();
        let said = refused(&api, &["apply", &path]).await;
        for member in ["url", "headers", "body"] {
            assert!(said.contains(&format!("http.{member}: an export left it out")), "{member}: {said}");
        }
        let wrong = MEMBERS.replace("https://api", "ftp://api").replace("timeout_seconds: 20", "timeout_seconds: 0");
        let said = refused(&api, &["apply", &file(folder.path(), &wrong)]).await;
        assert!(said.contains("http.url: must begin with http:// or https://"), "{said}");
        assert!(said.contains("http.timeout_seconds"), "{said}");
    });
}
