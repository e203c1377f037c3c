//! A job that has moved to another app, and its runs of before, which stay with the app that they had.

use carillon_store::{Actor, Role, RunFilter};
use reqwest::Method;
use serde_json::{Value, json};

use super::lists::Member;
use crate::services::{Kind, on};

// covers: S11
#[test]
fn a_run_of_before_its_job_moved_starts_none_of_the_other_app() {
    on(Kind::Postgres, async |db| {
        let operator = Member::start(db, Role::Operator).await;
        let (own, other) = (operator.world.own.clone(), operator.world.other.clone());
        operator.world.sql(&format!("UPDATE run SET state = 10 WHERE id = {}", own.run)).await;
        let again = async |selection: Value| {
            let mut body = json!({"action": "rerun"});
            body.as_object_mut().unwrap().extend(selection.as_object().unwrap().clone());
            operator.api(Method::POST, "/runs/bulk", Some(body)).await.1
        };
        let runs = async || {
            let filter = RunFilter { job_id: Some(own.job), limit: 9, ..RunFilter::default() };
            operator.world.store.runs(&filter).await.unwrap().items.len()
        };
        let by_id = json!({"ids": [own.run]});
        assert_eq!(again(by_id.clone()).await["done"], 1, "it is the own job");
        let before = runs().await;

        let mut draft = operator.world.store.job(own.job).await.unwrap().unwrap().draft;
        draft.app.clone_from(&other.app.name);
        operator.world.engine.jobs().update(own.job, &draft, None, &Actor::engine()).await.unwrap();
        let reason = format!("its job {} is deleted", own.job);
        let refused = json!({"matched": 1, "done": 0, "refused": [{"id": own.run, "reason": reason}]});
        assert_eq!(again(by_id.clone()).await, refused, "as if it did not exist");
        assert_eq!(again(json!({"filter": {"state": ["failed"]}})).await, refused);
        assert_eq!(runs().await, before);
    });
}
