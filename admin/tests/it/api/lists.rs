use serde_json::{Value, json};

use super::client::{Api, NOW, api, job};

#[test]
fn jobs_are_listed_page_by_page() {
    api(async |api| {
        api.job(json!({"name": "first"})).await;
        let jobs: Vec<Value> = (0..4).map(|n| job(json!({"name": format!("n{n}"), "enabled": n % 2 == 0}))).collect();
        api.post("/jobs:batch", json!(jobs)).await.ok();
        let page = api.get("/jobs?limit=3").await;
        assert_eq!(page.column("name"), ["n3", "n2", "n1"]);
        let rest = api.get(&format!("/jobs?limit=3&after={}", page.json["next"])).await;
        assert_eq!((rest.column("name"), &rest.json["next"]), (vec![json!("n0"), json!("first")], &Value::Null));
        assert_eq!(api.get("/jobs?enabled=false").await.column("name"), ["n3", "n1"]);
        assert_eq!(api.get("/jobs?text=FIR&app=billing&kind=none").await.column("name"), ["first"]);
        assert_eq!(api.get("/jobs?kind=cron").await.column("name").len(), 0);
        assert_eq!(api.get("/jobs?sort=name").await.column("name"), ["first", "n0", "n1", "n2", "n3"]);
        let second = api.get("/jobs?sort=name&limit=2&after=2").await;
        assert_eq!((second.column("name"), &second.json["next"]), (vec![json!("n1"), json!("n2")], &json!(4)));
    });
}

/// Five runs of one job, a second apart, the first at [`NOW`]; ids 11 to 15.
async fn runs(api: &Api) -> i64 {
    let made = api.job(json!({})).await;
    let id = made["id"].as_i64().unwrap();
    for (n, state) in [(0, 9), (1, 10), (2, 2), (3, 9), (4, 0)] {
        let at = NOW + n * 1000;
        api.sql(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, \
             sends, reason) SELECT {}, id, app_id, shard, 0, {at}, 0, 1, 1, {at}, {at}, {state}, 0, 0, \
             CASE WHEN {state} = 10 THEN 'refused' END FROM job WHERE id = {id}",
            11 + n
        ))
        .await;
    }
    id
}

#[test]
fn runs_are_listed_as_the_contract_says() {
    api(async |api| {
        let job_id = runs(api).await;
        let page = api.get("/runs?limit=2").await;
        assert_eq!((page.column("id"), &page.json["next"]), (vec![json!(15), json!(14)], &json!(14)));
        assert_eq!(page.json.as_object().unwrap().len(), 2);
        let failed = api.get("/runs?state=failed").await;
        assert_eq!(
            failed.json["items"][0],
            json!({
                "id": 12, "job_id": job_id, "app": "billing", "job": "Close the day", "cause": "schedule", "state": "failed",
                "scheduled_at": "2025-10-09T08:54:01.400Z", "due_at": "2025-10-09T08:54:01.400Z", "sent_at": null,
                "finished_at": null, "address": null, "attempt": 1, "shard_index": 0, "shard_total": 1, "choice": null,
                "parent_run_id": null, "scheduled_id": null, "rerun_of": null, "kill_asked_at": null, "flagged_at": null, "params": null, "revision": null,
                "received_at": null, "traceparent": null,
                "message": "The executor refused it."
            })
        );
        let mut single = api.get("/runs/12").await.ok();
        let traceparent = single["traceparent"].take();
        assert!(traceparent.as_str().is_some_and(|text| text.starts_with("00-") && text.len() == 55), "{traceparent}");
        assert_eq!(single, failed.json["items"][0]);
        let after = api.get("/runs?limit=2&after=12").await;
        assert_eq!((after.column("id"), &after.json["next"]), (vec![json!(11)], &Value::Null));
    });
}

#[test]
fn runs_are_filtered() {
    api(async |api| {
        let job_id = runs(api).await;
        let ids = async |query: &str| {
            let items = api.get(&format!("/runs?{query}")).await.column("id");
            items.iter().map(|id| id.as_i64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&format!("job_id={job_id}&app=billing&cause=schedule")).await, [15, 14, 13, 12, 11]);
        assert_eq!(ids("state=running,succeeded").await, [14, 13, 11]);
        assert_eq!(ids("state=running&state=succeeded").await, [14, 13, 11]);
        assert_eq!(
            ids("from=2025-10-09T08:54:01.400Z&to=2025-10-09T08:54:03.400Z").await,
            [13, 12],
            "the end is left out"
        );
        assert_eq!(ids("from=2025-10-09T10:54:03.400%2B02:00").await, [15, 14]);
        assert_eq!(ids("from=2025-10-09T10:54:03.400+02:00").await, [15, 14], "a plus sign as curl sends it");
        assert_eq!(ids(&format!("job_id={}", job_id + 1)).await, [0i64; 0]);
    });
}

#[test]
fn misfires_are_listed_page_by_page() {
    api(async |api| {
        for (job, from) in [(1, 0), (2, 0), (1, 60_000)] {
            api.sql(&format!(
                "INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch) VALUES \
                 ({job}, {}, {}, 10, 'fire_once', 'misfire', 1)",
                NOW + from,
                NOW + from + 9_000
            ))
            .await;
        }
        let page = api.get("/misfires?limit=2").await;
        assert_eq!(
            page.json["items"][0],
            json!({
                "job_id": 1, "from": "2025-10-09T08:55:00.400Z", "to": "2025-10-09T08:55:09.400Z", "count": 10,
                "policy": "fire_once", "reason": "misfire"
            })
        );
        let next = page.json["next"].as_str().unwrap();
        let rest = api.get(&format!("/misfires?limit=2&after={next}")).await;
        assert_eq!((rest.column("job_id"), &rest.json["next"]), (vec![json!(1)], &Value::Null));
        assert_eq!(api.get("/misfires?job_id=2").await.column("job_id"), [2]);
        assert_eq!(
            api.get("/misfires?from=2025-10-09T08:54:09.400Z&to=2025-10-09T08:55:00.400Z").await.column("job_id"),
            [2, 1]
        );
        assert_eq!(api.get("/misfires?from=2025-10-09T08:54:09.401Z").await.column("job_id"), [1]);
    });
}

// covers: S30
#[test]
fn wrong_parameters_are_named() {
    api(async |api| {
        for (path, told) in [
            ("/runs?limit=0", "limit: \"0\" is not allowed here; a number from 1 to 1000"),
            ("/runs?limit=1001", "limit: \"1001\" is not allowed here; a number from 1 to 1000"),
            ("/runs?state=done", "state: `done` is not a run state; allowed: claimed, sending"),
            ("/runs?cause=cron", "cause: `cron` is not a cause; allowed: schedule"),
            ("/runs?from=yesterday", "from: \"yesterday\" is not allowed here; a time is RFC 3339, such as"),
            ("/runs?to=1760000040400", "to: \"1760000040400\" is not allowed here; a time is RFC 3339"),
            ("/runs?job_id=x%27%20OR%201", "job_id: \"x' OR 1\" is not allowed here; an id is a whole number above 0"),
            ("/runs?after=-1", "after: \"-1\" is not allowed here"),
            ("/runs?sort=id;drop", "sort: \"id;drop\" is not allowed here; one of id, time, duration"),
            ("/runs?limit=5&limit=6", "limit: is given 2 times; once is enough"),
            ("/misfires?after=12", "after: \"12\" is not allowed here; give back `next` of the page before"),
            (
                "/jobs?kind=weekly",
                "kind: \"weekly\" is not allowed here; one of none, cron, unix_cron, fixed_rate, fixed_delay, once, daily",
            ),
            ("/jobs?enabled=1", "enabled: \"1\" is not allowed here; `true` or `false`"),
            ("/apps?limit=5", "limit: there is no parameter `limit`; this path has no parameters"),
            ("/jobs/abc", "id: \"abc\" is no id; an id is a whole number above 0"),
            ("/runs/0", "id: \"0\" is no id"),
            ("/runs/99999999999999999999", "id: \"99999999999999999999\" is no id"),
        ] {
            let error = api.get(path).await.error();
            assert!(error.starts_with(&format!("400 invalid {told}")), "{path}: {error}");
        }
    });
}

#[test]
fn alarms_are_listed_as_the_contract_says() {
    api(async |api| {
        for (id, kind, job_id) in [(1, "lost", 7), (2, "clock", 0), (3, "failed", 7)] {
            api.sql(&format!(
                "INSERT INTO alarm (id, job_id, run_id, kind, message, created_at) VALUES ({id}, {job_id}, NULL, '{kind}', 'why', {NOW})"
            ))
            .await;
        }
        let page = api.get("/alarms?limit=2").await;
        assert_eq!(page.column("kind"), ["failed", "clock"]);
        assert_eq!(
            page.json["items"][1],
            json!({"id": 2, "kind": "clock", "job_id": null, "run_id": null, "message": "why", "created_at": "2025-10-09T08:54:00.400Z", "open": false, "level": 0, "escalated_at": null, "closed_at": null})
        );
        let next = page.json["next"].as_str().unwrap();
        let rest = api.get(&format!("/alarms?after={next}")).await;
        assert_eq!((rest.column("id"), &rest.json["next"]), (vec![json!(1)], &Value::Null));
        assert_eq!(api.get("/alarms?kind=lost,clock&job_id=7").await.column("id"), [1]);
        let refused = api.get("/alarms?kind=loud").await;
        assert!(refused.error().contains("`loud` is not a kind of alarm"), "{}", refused.error());
    });
}

#[test]
fn a_filter_that_cannot_match_is_named() {
    api(async |api| {
        for (path, text) in [
            ("/jobs?app=nobody", "400 invalid app: there is no app `nobody`"),
            ("/jobs?tag=Night", "400 invalid tag: 'N' is not allowed in \"Night\""),
            ("/jobs?last_result=running", "400 invalid last_result: \"running\" is not allowed here; one of succeeded"),
            (
                "/jobs?sort=age",
                "400 invalid sort: \"age\" is not allowed here; one of id, name, next_fire, last_result",
            ),
            ("/runs?app=nobody", "400 invalid app: there is no app `nobody`"),
            ("/runs?sort=size", "400 invalid sort: \"size\" is not allowed here; one of id, time, duration"),
        ] {
            let error = api.get(path).await.error();
            assert!(error.starts_with(text), "{path}: {error}");
        }
    });
}

#[test]
fn runs_are_searched_and_sorted() {
    api(async |api| {
        let job_id = runs(api).await;
        api.sql("UPDATE run SET result_msg = 'Disk FULL' WHERE id = 12").await;
        api.sql("UPDATE run SET sent_at = 1000, finished_at = 1000 + id * 10 WHERE id IN (11, 14)").await;
        let ids = async |query: &str| {
            let items = api.get(&format!("/runs?{query}")).await.column("id");
            items.iter().map(|id| id.as_i64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(ids("text=disk+full").await, [12]);
        assert_eq!(ids("text=close+the").await, [15, 14, 13, 12, 11], "the job's name");
        assert_eq!(ids("text=13").await, [13]);
        assert_eq!(ids("sort=duration&limit=2").await, [14, 11]);
        assert_eq!(ids("sort=time&state=succeeded").await, [14, 11]);
        api.sql(&format!("INSERT INTO job_tag (tag, job_id) VALUES ('night', {job_id})")).await;
        assert_eq!((ids("tag=night").await.len(), ids("tag=day").await.len()), (5, 0));
    });
}
