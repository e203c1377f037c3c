//! What handlers refuse, because only they know which objects a request names: it is denied in the audit, also where the answer does
//! not say so.

use std::time::Duration;

use carillon_scheduler::{AuditAction, JobDraft};
use carillon_store::audit::list::{AuditFilter, AuditRow};
use carillon_store::{Actor, Role};
use reqwest::Method;
use serde_json::{Value, json};

use super::lists::Member;
use super::world::MISSING;
use crate::services::{Kind, TestDatabase, on};

/// The newest denials, once there are as many. They are written beside the answers, whose time must not show what exists.
async fn denials(member: &Member, count: usize) -> Vec<AuditRow> {
    let filter = AuditFilter { actions: vec![AuditAction::Deny], limit: 100, ..AuditFilter::default() };
    let look = async || {
        loop {
            let found = member.world.store.audit().list(&filter).await.unwrap().items;
            match found.len() >= count {
                true => break found,
                false => tokio::task::yield_now().await,
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), look()).await.expect("a denial has no entry");
    assert_eq!(found.len(), count, "{found:?}");
    found
}

fn job(app: &str, children: &[i64]) -> Value {
    json!({"app": app, "name": "new", "handler": "h", "children": children})
}

fn window(app: &str) -> Value {
    json!({"app": app, "note": "patches", "expression": "0 0 2 ? * SUN", "minutes": 60})
}

fn rule(app: &str, channel: i64) -> Value {
    json!({"name": "rule", "app": app, "kinds": ["failed"], "channels": [channel]})
}

// covers: S11, S37
#[test]
fn what_only_a_handler_can_refuse_is_denied_in_the_audit_and_missing_in_the_answer() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let editor = Member::start(db, Role::Editor).await;
        let (own, other, channel) = (editor.world.own.clone(), editor.world.other.clone(), editor.world.channel);
        let own_job = format!("/jobs/{}", own.job);
        let own_rule = format!("/alert-rules/{}", own.rule);
        // Each with the other app and one that does not exist.
        let asks = |app: &str, pause: i64, window_id: i64, child: i64| {
            vec![
                (Method::DELETE, format!("/pauses/{pause}"), None),
                (Method::POST, "/pauses".to_owned(), Some(json!({"app": app, "note": "deployment"}))),
                (Method::DELETE, format!("/maintenance-windows/{window_id}"), None),
                (Method::POST, format!("/maintenance-windows/{window_id}/end"), None),
                (Method::POST, "/maintenance-windows".to_owned(), Some(window(app))),
                (Method::POST, "/jobs".to_owned(), Some(job(app, &[]))),
                (Method::POST, "/jobs".to_owned(), Some(job("app-own", &[child]))),
                (Method::POST, "/jobs:batch".to_owned(), Some(json!([job("app-own", &[]), job(app, &[])]))),
                (Method::PUT, own_job.clone(), Some(job(app, &[]))),
                (Method::POST, "/jobs/bulk".to_owned(), Some(json!({"action": "move", "app": app, "ids": [own.job]}))),
                (Method::POST, "/alert-rules".to_owned(), Some(rule(app, channel))),
                (Method::PUT, own_rule.clone(), Some(rule(app, channel))),
            ]
        };
        let of_other = asks("app-other", other.pause, other.window, other.job);
        let of_none = asks("app-gone1", MISSING, MISSING, MISSING);
        let mut count = 0;
        for ((method, path, body), (_, path_of_none, body_of_none)) in of_other.into_iter().zip(of_none) {
            // The number of entries a minute is bounded.
            editor.world.clock.advance(Duration::from_secs(60));
            let missing = editor.api(method.clone(), &path_of_none, body_of_none).await;
            let (status, answer) = editor.api(method.clone(), &path, body).await;
            count += 1;
            let place = format!("{method} {path}: {status} {answer}");
            assert!([400, 404].contains(&status), "{place}");
            let numbers = [other.pause, other.window, other.job].map(|id| id.to_string());
            let as_missing = numbers.iter().fold(answer.to_string(), |text, id| text.replace(id, &MISSING.to_string()));
            assert_eq!((status, as_missing.replace("app-other", "app-gone1")), (missing.0, missing.1.to_string()));
            let newest = denials(&editor, count).await.remove(0);
            assert_eq!((newest.actor.as_str(), newest.app_id), ("ada", Some(other.app.id)), "{place}");
            assert!(newest.detail.contains(method.as_str()), "{place}: {}", newest.detail);
        }
        let store = &editor.world.store;
        let (pause, rule) =
            (store.apps().pause(other.pause).await.unwrap(), store.alerts().rule(own.rule).await.unwrap());
        assert_eq!(pause.unwrap().ends_at, None);
        assert_eq!(store.apps().maintenance_window(other.window).await.unwrap().unwrap().ended_at, None);
        assert_eq!(rule.unwrap().app_id, Some(own.app.id));
    });
}

// covers: S11, S37
#[test]
fn many_foreign_ids_leave_one_entry_that_counts_them_and_names_the_first() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let editor = Member::start(db, Role::Editor).await;
        let (own, other) = (editor.world.own.clone(), editor.world.other.clone());
        let draft = |n: usize| JobDraft::new("app-other", format!("n{n}"), "h");
        let drafts: Vec<JobDraft> = (0..30).map(draft).collect();
        let foreign = editor.world.engine.jobs().create_all(drafts, None, &Actor::engine()).await.unwrap();
        let foreign: Vec<i64> = foreign.iter().map(|job| job.id).collect();
        let ids = [vec![MISSING, own.job], foreign.clone()].concat();
        let tag = json!({"action": "add_tag", "tag": "night", "ids": ids});
        let (status, answer) = editor.api(Method::POST, "/jobs/bulk", Some(tag)).await;
        assert_eq!((status, &answer["matched"], &answer["done"]), (200, &json!(32), &json!(1)));
        let reasons = answer["refused"].as_array().unwrap();
        assert!(reasons.iter().all(|it| it["reason"] == format!("there is no job {}", it["id"])), "{answer}");
        let entry = denials(&editor, 1).await.remove(0);
        assert_eq!((entry.object.as_str(), entry.object_id, entry.app_id), ("job", foreign[0], Some(other.app.id)));
        let detail: Value = serde_json::from_str(&entry.detail).unwrap();
        assert_eq!((&detail["refused"], &detail["ids"]), (&json!(30), &json!(foreign[..20])));

        for (path, body) in [
            ("/jobs/bulk", json!({"action": "delete", "ids": [MISSING]})),
            ("/runs/bulk", json!({"action": "kill", "ids": [MISSING]})),
            ("/runs/bulk", json!({"action": "kill", "ids": [other.run]})),
        ] {
            let (status, answer) = editor.api(Method::POST, path, Some(body)).await;
            assert_eq!((status, &answer["done"]), (200, &json!(0)), "{answer}");
        }
        let entry = denials(&editor, 2).await.remove(0);
        assert_eq!((entry.object.as_str(), entry.object_id, entry.app_id), ("run", other.run, Some(other.app.id)));
        for id in foreign {
            assert_eq!(editor.world.store.jobs().get(id).await.unwrap().unwrap().revision, 1);
        }
    });
}
