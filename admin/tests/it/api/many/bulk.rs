//! One action for many jobs or runs.

use serde_json::{Value, json};

use crate::api::client::{Api, api, job};

async fn jobs(api: &Api, count: usize) -> Vec<i64> {
    api.job(json!({})).await;
    let drafts: Vec<Value> = (1..count)
        .map(|n| job(json!({"name": format!("n{n}"), "schedule": {"kind": "fixed_rate", "seconds": 60}})))
        .collect();
    if !drafts.is_empty() {
        api.post("/jobs:batch", json!(drafts)).await.ok();
    }
    let ids = api.get("/jobs").await.column("id");
    ids.iter().map(|id| id.as_i64().unwrap()).collect()
}

#[test]
fn jobs_that_match_are_counted_first_and_then_changed() {
    api(async |api| {
        let ids = jobs(api, 4).await;
        let ask = |action: Value| {
            let mut body = json!({"filter": {"app": "billing"}});
            body.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
            body
        };
        let dry = api.post("/jobs/bulk", ask(json!({"action": "add_tag", "tag": "night", "dry_run": true}))).await.ok();
        assert_eq!(dry, json!({"matched": 4, "done": 0, "refused": []}));
        let other = api.post("/jobs/bulk", ask(json!({"action": "delete", "count": 3}))).await;
        assert!(other.error().starts_with("409 changed"), "{}", other.error());
        let done = api.post("/jobs/bulk", ask(json!({"action": "add_tag", "tag": "night", "count": 4}))).await.ok();
        assert_eq!(done, json!({"matched": 4, "done": 4, "refused": []}));
        assert_eq!(api.get("/jobs?tag=night").await.column("id").len(), 4);
        let pause = json!({"action": "pause", "note": "deployment", "until": "2025-10-09T09:00:00Z"});
        assert_eq!(api.post("/jobs/bulk", ask(pause)).await.ok()["done"], 4);
        let paused = api.get(&format!("/jobs/{}", ids[0])).await.ok();
        assert_eq!((&paused["enabled"], &paused["pause"]["note"]), (&json!(false), &json!("deployment")));
        assert_eq!(
            api.post("/jobs/bulk", json!({"action": "resume", "filter": {"enabled": false}})).await.ok()["done"],
            4
        );
        let some = json!({"action": "remove_tag", "tag": "night", "ids": [ids[0], 987_654]});
        let some = api.post("/jobs/bulk", some).await.ok();
        assert_eq!(some["refused"], json!([{"id": 987_654, "reason": "there is no job 987654"}]));
        assert_eq!((&some["matched"], &some["done"]), (&json!(2), &json!(1)));
        api.post("/apps", json!({"name": "shipping"})).await.ok();
        let moved = api.post("/jobs/bulk", json!({"action": "move", "app": "shipping", "ids": [ids[1]]})).await.ok();
        assert_eq!(
            (&moved["done"], api.get("/jobs?app=shipping").await.column("id")),
            (&json!(1), vec![json!(ids[1])])
        );
        assert_eq!(api.post("/jobs/bulk", json!({"action": "delete", "ids": ids})).await.ok()["done"], 4);
        assert_eq!(api.get("/jobs").await.column("id").len(), 0);
    });
}

#[test]
fn a_repeated_request_runs_each_job_once() {
    api(async |api| {
        let ids = jobs(api, 2).await;
        for _ in 0..2 {
            let done = api.post_with_key("/jobs/bulk", "k", json!({"action": "run", "ids": ids})).await.ok();
            assert_eq!(done["done"], 2);
        }
        assert_eq!(api.get("/runs").await.column("cause"), ["api", "api"]);
    });
}

#[test]
fn what_is_wrong_with_a_request_is_named() {
    api(async |api| {
        let (jobs, runs) = ("/jobs/bulk", "/runs/bulk");
        for (path, body, text) in [
            (jobs, json!({"action": "jump", "ids": [1]}), "action: `jump` is not an action; allowed: pause, resume"),
            (jobs, json!({"action": "pause"}), "ids: give either"),
            (jobs, json!({"action": "pause", "ids": [1], "filter": {}}), "ids: give either"),
            (
                jobs,
                json!({"action": "pause", "ids": [1], "until": "2000-01-01T00:00:00Z"}),
                "until: must be later than now",
            ),
            (jobs, json!({"action": "resume", "ids": [1], "tag": "a"}), "tag: does not belong to the action `resume`"),
            (jobs, json!({"action": "add_tag", "ids": [1], "tag": "A"}), "tag: 'A' is not allowed"),
            (jobs, json!({"action": "move", "ids": [1], "app": "nowhere"}), "app: there is no app `nowhere`"),
            (jobs, json!({"action": "delete", "filter": {"app": "nowhere"}}), "filter.app: there is no app `nowhere`"),
            (jobs, json!({"action": "delete", "filter": {"kind": "weekly"}}), "filter.kind: \"weekly\" is not allowed"),
            (
                jobs,
                json!({"action": "delete", "filter": {"text": "a\0"}}),
                "filter.text: must not contain the character NUL",
            ),
            (
                runs,
                json!({"action": "kill", "filter": {"owner": "\0"}}),
                "filter.owner: must not contain the character NUL",
            ),
            (runs, json!({"action": "resolve", "ids": [1], "note": "n"}), "outcome: is missing"),
            (runs, json!({"action": "resolve", "ids": [1], "outcome": "failed"}), "note: 1 to 500 characters"),
            (runs, json!({"action": "kill", "ids": [1], "note": "n"}), "note: does not belong to the action `kill`"),
            (runs, json!({"action": "rerun", "filter": {"state": ["odd"]}}), "filter.state: `odd` is not a"),
            (
                runs,
                json!({"action": "kill", "ids": [1], "repeated": true}),
                "repeated: does not belong to the action `kill`",
            ),
        ] {
            let error = api.post(path, body.clone()).await.error();
            assert!(error.starts_with(&format!("400 invalid {text}")), "{body}: {error}");
        }
    });
}

#[test]
fn what_failed_since_then_is_run_again_once_for_each_fire() {
    api(async |api| {
        let id = jobs(api, 1).await[0];
        // Of one fire the first attempt failed and the second succeeded; of another both failed; a third is too old.
        for (run, fire, attempt, state) in
            [(11, 1_000, 1, 10), (12, 1_000, 2, 9), (13, 2_000, 1, 10), (14, 2_000, 2, 10), (15, 500, 1, 10)]
        {
            api.sql(&format!(
                "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
                 SELECT {run}, id, app_id, shard, 0, {fire}, 0, 1, {attempt}, {fire}, {fire}, {state}, 0, 1 FROM job WHERE id = {id}"
            ))
            .await;
        }
        api.sql("INSERT INTO run_input (run_id, params) VALUES (14, 'special')").await;
        let filter = json!({"state": ["failed", "lost", "unknown"], "from": "1970-01-01T00:00:00.900Z"});
        let dry = api.post("/runs/bulk", json!({"action": "rerun", "filter": filter, "dry_run": true})).await.ok();
        assert_eq!(dry["matched"], 1);
        let done = api.post("/runs/bulk", json!({"action": "rerun", "filter": filter, "count": 1})).await.ok();
        assert_eq!(done, json!({"matched": 1, "done": 1, "refused": []}));
        let made = api.get("/runs?cause=api").await.column("id");
        assert_eq!(api.get(&format!("/runs/{}", made[0])).await.ok()["params"], "special");
        let both = api.post("/runs/bulk", json!({"action": "rerun", "ids": [13, 14, 987_654]})).await.ok();
        assert_eq!((&both["matched"], &both["done"]), (&json!(3), &json!(1)));
        assert_eq!(both["refused"][0], json!({"id": 13, "reason": "run 14 of the same fire is run again"}));
        assert_eq!(both["refused"][1], json!({"id": 987_654, "reason": "there is no run 987654"}));
    });
}

// covers: B1
#[test]
fn a_run_is_run_again_once_and_with_the_parameters_that_it_was_sent_with() {
    api(async |api| {
        let made = api.job(json!({"params": "old"})).await;
        let id = made["id"].as_i64().unwrap();
        let mut draft = job(json!({"params": "new"}));
        draft["app"] = "billing".into();
        api.put(&format!("/jobs/{id}"), draft).await.ok();
        // One was sent with the first definition, one with the second, one with parameters of its own, one never.
        for (run, revision) in [(11, "1"), (12, "2"), (13, "1"), (14, "NULL")] {
            let marked = if revision == "NULL" { "NULL" } else { "1" };
            api.sql(&format!(
                "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, \
                 revision, marked_at) SELECT {run}, id, app_id, shard, 0, {run}, 0, 1, 1, {run}, {run}, 10, 0, 1, {revision}, {marked} \
                 FROM job WHERE id = {id}"
            ))
            .await;
        }
        api.sql("INSERT INTO run_input (run_id, params) VALUES (13, 'own')").await;
        let rerun = |more: Value| {
            let mut body = json!({"action": "rerun", "filter": {"state": ["failed"]}});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        let done = api.post("/runs/bulk", rerun(json!({"count": 4}))).await.ok();
        assert_eq!(done, json!({"matched": 4, "done": 4, "refused": []}));
        let mut again = vec![];
        for run in api.get("/runs?cause=api").await.column("id") {
            let run = api.get(&format!("/runs/{run}")).await.ok();
            again.push((run["rerun_of"].as_i64().unwrap(), run["params"].as_str().unwrap().to_owned()));
        }
        again.sort();
        let expected = [(11, "old"), (12, "new"), (13, "own"), (14, "new")];
        assert_eq!(again, expected.map(|(run, params)| (run, params.to_owned())));
        // What was run again is not offered once more, unless it is asked for.
        let dry = |more: Value| async {
            let mut body = rerun(more);
            body["dry_run"] = true.into();
            api.post("/runs/bulk", body).await.ok()["matched"].clone()
        };
        assert_eq!(dry(json!({})).await, 0);
        assert_eq!(dry(json!({"repeated": true})).await, 4);
        // A repetition that failed is.
        api.sql("UPDATE run SET state = 10 WHERE cause = 2 AND id = (SELECT MIN(run_id) FROM run_input WHERE rerun_of = 11)").await;
        assert_eq!(dry(json!({})).await, 1);
        assert_eq!(dry(json!({"repeated": true})).await, 5);
    });
}

// covers: B1
#[test]
fn a_run_that_is_run_again_keeps_its_parameters_if_the_job_is_edited_before_it_is_sent() {
    api(async |api| {
        let id = api.job(json!({"params": "old"})).await["id"].as_i64().unwrap();
        api.sql(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, \
             revision, marked_at) SELECT 11, id, app_id, shard, 0, 11, 0, 1, 1, 11, 11, 10, 0, 1, 1, 1 FROM job WHERE id = {id}"
        ))
        .await;
        assert_eq!(api.post("/runs/bulk", json!({"action": "rerun", "ids": [11]})).await.ok()["done"], 1);
        let mut draft = job(json!({"params": "new"}));
        draft["app"] = "billing".into();
        api.put(&format!("/jobs/{id}"), draft).await.ok();
        let made = api.get("/runs?cause=api").await.column("id");
        assert_eq!(api.get(&format!("/runs/{}", made[0])).await.ok()["params"], "old");
    });
}

#[test]
fn runs_are_killed_and_resolved_together() {
    api(async |api| {
        let ids = jobs(api, 2).await;
        api.post("/jobs/bulk", json!({"action": "run", "ids": ids})).await.ok();
        let killed = api.post("/runs/bulk", json!({"action": "kill", "filter": {"state": ["claimed"]}})).await.ok();
        assert_eq!(killed, json!({"matched": 2, "done": 2, "refused": []}));
        let runs: Vec<i64> = api.get("/runs").await.column("id").iter().map(|id| id.as_i64().unwrap()).collect();
        api.sql(&format!("UPDATE run SET state = 4, finished_at = NULL, sends = 1 WHERE id = {}", runs[0])).await;
        let resolve = json!({"action": "resolve", "outcome": "succeeded", "note": "seen in its log", "ids": runs});
        let resolved = api.post("/runs/bulk", resolve).await.ok();
        assert_eq!((&resolved["done"], &resolved["refused"][0]["id"]), (&json!(1), &json!(runs[1])));
        assert_eq!(api.get(&format!("/runs/{}", runs[0])).await.ok()["state"], "succeeded");
    });
}
