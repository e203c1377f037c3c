use serde_json::{Value, json};

use super::client::api;

#[test]
fn a_backfill_is_tried_asked_for_followed_and_cancelled() {
    api(async |api| {
        let job = api.job(json!({"schedule": {"kind": "cron", "expression": "0 0 * * * ?"}})).await;
        let path = format!("/jobs/{}/backfill", job["id"]);
        let range = json!({"from": "2025-10-08T00:00:00Z", "to": "2025-10-08T03:00:00+00:00"});
        let mut dry = range.clone();
        dry["dry_run"] = json!(true);
        let listed = api.post(&path, dry).await.ok();
        let items = ["2025-10-08T00:00:00.000Z", "2025-10-08T01:00:00.000Z", "2025-10-08T02:00:00.000Z"];
        assert_eq!(listed, json!({"instants": 3, "skipped": 0, "items": items}));
        assert_eq!(api.get(&format!("/jobs/{}/backfills", job["id"])).await.column("id").len(), 0);
        let made = api.post(&path, range).await;
        assert_eq!(made.status, 202, "{}", made.json);
        assert_eq!((&made.json["instants"], &made.json["state"]), (&json!(3), &json!("running")));
        let own = format!("/backfills/{}", made.json["id"]);
        assert_eq!(made.headers["location"], format!("/api/v1{own}").as_str());
        assert_eq!(api.get(&own).await.ok(), made.json);
        let cancelled = api.post(&format!("{own}/cancel"), Value::Null).await.ok();
        assert_eq!(cancelled["state"], "cancelled");
        assert_eq!(api.get(&format!("/jobs/{}/backfills", job["id"])).await.ok()["items"], json!([cancelled]));
        assert_eq!(api.get("/backfills/77").await.status, 404);
    });
}

#[test]
fn what_is_wrong_with_a_range_is_named() {
    api(async |api| {
        let job = api.job(json!({"schedule": {"kind": "cron", "expression": "0 0 * * * ?"}})).await;
        let path = format!("/jobs/{}/backfill", job["id"]);
        let day = "2025-10-08T00:00:00Z";
        for (body, field) in [
            (json!({"to": day}), "from"),
            (json!({"from": "yesterday", "to": day}), "from"),
            (json!({"from": day, "to": day}), "to"),
            (json!({"from": day, "to": "2030-01-01T00:00:00Z"}), "to"),
            (json!({"from": "2025-10-07T00:00:00Z", "to": day, "max_concurrent": 0}), "max_concurrent"),
            (json!({"from": "2025-10-07T00:00:00Z", "to": day, "dry_run": "yes"}), "dry_run"),
            (json!({"from": "2025-10-07T00:00:00Z", "to": day, "speed": 3}), "speed"),
        ] {
            let answer = api.post(&path, body.clone()).await;
            assert_eq!((answer.status.as_u16(), &answer.json["error"]["field"]), (400, &json!(field)), "{body}");
        }
        assert_eq!(
            api.post("/jobs/999999/backfill", json!({"from": "2025-10-07T00:00:00Z", "to": day})).await.status,
            404
        );
    });
}

// covers: A11
#[test]
fn a_backfill_that_would_run_nothing_says_why() {
    api(async |api| {
        let range = json!({"from": "2025-10-07T00:10:00Z", "to": "2025-10-07T00:20:00Z", "dry_run": true});
        let by_hand = api.job(json!({})).await;
        let hourly = json!({"schedule": {"kind": "cron", "expression": "0 0 * * * ?"}});
        let hourly = api.job(hourly).await;
        for (job, said) in [
            (
                by_hand,
                "400 invalid schedule: the job has no schedule: it is run by hand or through the API, so it has no instants",
            ),
            (
                hourly,
                "400 invalid from: no instant of the job lies between `from` and `to`; the first one after `from` is 2025-10-07T01:00:00.000Z",
            ),
        ] {
            let path = format!("/jobs/{}/backfill", job["id"]);
            assert_eq!(api.post(&path, range.clone()).await.error(), said);
        }
    });
}
