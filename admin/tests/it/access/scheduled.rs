//! Scheduled runs of another app: to a member of the own one they are not there.

use carillon_engine::manage::{DelayedRun, DueTime, RunLaterRequest};
use carillon_store::{Actor, Role};
use reqwest::Method;
use serde_json::json;

use super::lists::Member;
use crate::services::{Kind, on};

// covers: S11
#[test]
fn a_scheduled_run_of_another_app_is_neither_shown_nor_changed() {
    on(Kind::Postgres, async |db| {
        let operator = Member::start(db, Role::Operator).await;
        let world = &operator.world;
        let run = DelayedRun {
            due: DueTime::InSeconds(3_600),
            expires_after_seconds: None,
            params: None,
            parts: None,
            priority: None,
            address: None,
        };
        let ask = RunLaterRequest {
            job_id: world.other.job,
            runs: vec![run],
            idempotency_key: None,
            traceparent: None,
            is_list: false,
        };
        let id = world.engine.jobs().run_later(ask, &Actor::engine()).await.unwrap().ids[0];
        let before = world.store.delayed().get(id).await.unwrap();
        assert!(before.is_some());
        for (method, path, body) in [
            (Method::GET, "", None),
            (Method::PATCH, "", Some(json!({"at": "2026-01-01T00:00:00Z"}))),
            (Method::POST, "/kill", Some(json!({}))),
            (Method::GET, "/log", None),
            (Method::POST, "/resolve", Some(json!({"outcome": "failed", "note": "seen"}))),
        ] {
            let path = format!("/runs/{id}{path}");
            assert_eq!(operator.api(method.clone(), &path, body).await.0, 404, "{method} {path}");
        }
        let bulk = json!({"action": "kill", "ids": [id]});
        assert_eq!(operator.api(Method::POST, "/runs/bulk", Some(bulk)).await.1["done"], 0);
        assert_eq!(world.store.delayed().get(id).await.unwrap(), before);
    });
}
