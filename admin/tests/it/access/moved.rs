//! A job that has moved to another app, and its runs of before, which stay with the app that they had.

use carillon_engine::manage::RunRequest;
use carillon_scheduler::Cause;
use carillon_store::{Actor, Role, RunFilter};
use reqwest::Method;
use serde_json::{Value, json};

use super::lists::Member;
use super::world::NOW;
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
            operator.world.store.runs().list(&filter).await.unwrap().items.len()
        };
        let by_id = json!({"ids": [own.run]});
        assert_eq!(again(by_id.clone()).await["done"], 1, "it is the own job");
        let before = runs().await;

        let mut draft = operator.world.store.jobs().get(own.job).await.unwrap().unwrap().draft;
        draft.app.clone_from(&other.app.name);
        operator.world.engine.jobs().update(own.job, &draft, None, &Actor::engine()).await.unwrap();
        let reason = format!("its job {} is deleted", own.job);
        let refused = json!({"matched": 1, "done": 0, "refused": [{"id": own.run, "reason": reason}]});
        assert_eq!(again(by_id.clone()).await, refused, "as if it did not exist");
        assert_eq!(again(json!({"filter": {"state": ["failed"]}, "repeated": true})).await, refused);
        assert_eq!(runs().await, before);
    });
}

/// Text that users of the app to which the job has moved may not see.
const SECRET: &str = "told-by-the-other-app";

// covers: S11, S13
#[test]
fn runs_of_before_a_job_moved_are_shown_to_the_members_of_its_former_app_alone() {
    on(Kind::Postgres, async |db| {
        let operator = Member::start(db, Role::Operator).await;
        let (world, by) = (&operator.world, Actor::engine());
        let job = world.other.job;
        let run = async |params: Option<&str>| {
            let params = params.map(str::to_owned);
            let ask = RunRequest {
                parts: None,
                job_id: job,
                cause: Cause::Manual,
                params,
                priority: None,
                address: None,
                idempotency_key: None,
            };
            world.engine.jobs().run(ask, &by).await.unwrap()
        };
        // One by hand, with parameters of its own, and one of an instant of the schedule.
        let (by_hand, of_schedule) = (run(Some(SECRET)).await, run(None).await);
        let ended = format!("state = 10, sent_at = {NOW}, finished_at = {NOW}, result_msg = '{SECRET}'");
        world.sql(&format!("UPDATE run SET {ended} WHERE job_id = {job}")).await;
        let instant = NOW - 400;
        let fire = format!("cause = 0, fire_no = {instant}, scheduled_at = {instant}");
        world.sql(&format!("UPDATE run SET {fire} WHERE id = {of_schedule}")).await;
        let mut draft = world.store.jobs().get(job).await.unwrap().unwrap().draft;
        draft.app.clone_from(&world.own.app.name);
        world.engine.jobs().update(job, &draft, None, &by).await.unwrap();
        // Its next attempt is one of the app that it has now.
        let retry = run(None).await;
        world.sql(&format!("UPDATE run SET {fire}, attempt = 2, state = 10 WHERE id = {retry}")).await;

        for id in [by_hand, of_schedule] {
            assert_eq!(operator.api(Method::GET, &format!("/runs/{id}"), None).await.0, 404);
        }
        // An instant that has runs of the other app alone, and one with the attempt that is to be seen.
        let instants =
            [("2025-10-09T08:54:00.400Z", "unknown", vec![]), ("2025-10-09T08:54:00Z", "recorded", vec![json!(retry)])];
        for (at, verdict, runs) in instants {
            let (status, found) = operator.api(Method::GET, &format!("/jobs/{job}/explain?at={at}"), None).await;
            let seen: Vec<Value> = found["runs"].as_array().unwrap().iter().map(|it| it["run"]["id"].clone()).collect();
            assert_eq!((status, &found["verdict"], seen), (200, &json!(verdict), runs), "{found}");
            assert!(!found.to_string().contains(SECRET), "{found}");
        }
        let first = of_schedule.to_string();
        for path in [
            format!("/jobs/{job}"),
            format!("/jobs/{job}/explain?at=2025-10-09T08%3A54%3A00.400Z"),
            format!("/jobs/{job}/explain?at=2025-10-09T08%3A54%3A00Z"),
            format!("/jobs/{job}/run?like={by_hand}"),
            format!("/runs/{retry}"),
            "/jobs".to_owned(),
        ] {
            let page = operator.page(&path).await;
            assert!(!page.contains(SECRET) && !page.contains(&format!("/runs/{first}")), "{path}: {page}");
        }
    });
}
