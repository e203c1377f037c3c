//! What will happen: previews, next instants, forecasts, and the offsets of spreads.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::client::{Api, api, job};

/// The clock of these tests stands at 2025-10-09T08:54:00.400Z, a Thursday.
async fn preview(api: &Api, body: Value) -> Value {
    api.post("/preview", body).await.ok()
}

fn daily(zone: &str) -> Value {
    json!({"kind": "cron", "expression": "0 30 2 * * ?", "timezone": zone})
}

#[test]
fn a_schedule_is_looked_at_before_it_is_saved() {
    api(async |api| {
        let looked = preview(api, json!({"schedule": daily("America/New_York")})).await;
        assert_eq!(looked["items"].as_array().unwrap().len(), 10);
        assert_eq!(looked["items"][0], "2025-10-10T06:30:00.000Z");
        assert_eq!(looked["local"][0], "2025-10-10T02:30:00-04:00");
        assert_eq!(looked["timezone"], "America/New_York");
        assert_eq!(looked["warnings"], json!(["02:30 does not exist on 2026-03-08: it fires at 03:00 instead."]));
        let march = json!({"schedule": daily("America/New_York"), "from": "2026-03-07T12:00:00-05:00", "count": 2});
        let looked = preview(api, march).await;
        assert_eq!(looked["local"], json!(["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"]));
        let ends = json!({"kind": "once", "at": "2025-10-10T00:00:00+02:00"});
        let looked = preview(api, json!({"schedule": ends})).await;
        assert_eq!((&looked["items"], &looked["ends"]), (&json!(["2025-10-09T22:00:00.000Z"]), &json!(true)));
        let limited = json!({"kind": "fixed_rate", "seconds": 60, "max_fires": 3});
        assert_eq!(preview(api, json!({"schedule": limited})).await["items"].as_array().unwrap().len(), 3);
    });
}

#[test]
fn excluded_days_are_told() {
    api(async |api| {
        api.post("/calendars", json!({"name": "bank", "weekdays": ["SAT", "SUN"], "days": ["2025-10-13"]})).await.ok();
        let mut schedule = daily("UTC");
        schedule["calendars"] = json!(["bank"]);
        let looked = preview(api, json!({"schedule": schedule, "count": 3})).await;
        let days: Vec<_> = looked["excluded"].as_array().unwrap().iter().map(|day| day["day"].clone()).collect();
        assert_eq!(days, ["2025-10-11", "2025-10-12", "2025-10-13"]);
        assert_eq!(looked["excluded"][0], json!({"day": "2025-10-11", "moved_to": null, "calendars": ["bank"]}));
        assert_eq!(looked["items"][1], "2025-10-14T02:30:00.000Z");
        schedule["on_excluded"] = json!("next_working_day");
        let moved = preview(api, json!({"schedule": schedule, "count": 3})).await;
        assert_eq!(moved["excluded"][0]["moved_to"], "2025-10-14");
        schedule["calendars"] = json!(["bench"]);
        let refused = api.post("/preview", json!({"schedule": schedule})).await.error();
        assert!(refused.starts_with("400 invalid schedule.calendars: ") && refused.contains("bench"), "{refused}");
    });
}

#[test]
fn what_is_wrong_with_a_preview_is_named() {
    api(async |api| {
        let rate = json!({"kind": "fixed_rate", "seconds": 60});
        for (body, start) in [
            (json!({}), "schedule: is missing"),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 0 25 * * ?"}}),
                "schedule.expression: hour field: 25",
            ),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 0 0 30 2 ?"}}),
                "schedule.expression: `0 0 0 30 2 ?` never fires",
            ),
            (json!({"schedule": rate, "count": 0}), "count: 0 is not allowed; a number from 1 to 1000"),
            (json!({"schedule": rate, "count": 1001}), "count: 1001 is not allowed"),
            (json!({"schedule": rate, "from": "now"}), "from: `now` is not a time"),
            (json!({"schedule": rate, "job_id": "x"}), "job_id: invalid type: string \"x\", expected a whole number"),
            (json!({"schedule": rate, "retries": 500}), "retries: 500 is not allowed"),
            (json!({"schedule": rate, "app": "nobody"}), "name: is missing"),
            (job(json!({"schedule": rate})), "app: there is no app `billing`"),
        ] {
            let told = api.post("/preview", body).await.error();
            assert!(told.starts_with(&format!("400 invalid {start}")), "{told}\nwanted: {start}");
        }
        let missing = api.post("/preview", json!({"schedule": rate, "job_id": 999})).await.error();
        assert_eq!(missing, "404 not_found there is no job 999");
    });
}

#[test]
fn the_next_instants_of_a_job_are_those_of_its_preview() {
    api(async |api| {
        let schedule = json!({"kind": "fixed_rate", "seconds": 7, "max_fires": 6, "start_at": "2025-10-09T09:00:00Z"});
        let made = api.job(json!({"schedule": schedule})).await;
        assert_eq!((&made["fires_left"], &made["schedule"]["spread_offset_seconds"]), (&json!(6), &Value::Null));
        let next = api.get(&format!("/jobs/{}/next?count=100", made["id"])).await.ok();
        assert_eq!((next["items"].as_array().unwrap().len(), &next["ends"]), (6, &json!(true)));
        let mut body = job(json!({"schedule": schedule}));
        body["count"] = json!(100);
        body["job_id"] = made["id"].clone();
        assert_eq!(preview(api, body).await, next);
        let third = next["items"][2].as_str().unwrap();
        let rest = api.get(&format!("/jobs/{}/next?count=100&from={third}", made["id"])).await.ok();
        assert_eq!(rest["items"].as_array().unwrap()[..], next["items"].as_array().unwrap()[3..]);
        api.sql("UPDATE job SET fires_left = 1").await;
        let left = api.get(&format!("/jobs/{}/next", made["id"])).await.ok();
        assert_eq!(left["items"].as_array().unwrap().len(), 1);
    });
}

/// A job within ten seconds of each minute.
fn spread() -> Value {
    json!({"kind": "cron", "expression": "0 * * * * ?", "spread_seconds": 10})
}

#[test]
fn a_spread_is_chosen_when_saved_and_kept_over_edits() {
    api(async |api| {
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let mut taken = vec![];
        for number in 0..10 {
            let name = format!("job {number}");
            let shown = preview(api, job(json!({"name": name, "schedule": spread()}))).await["spread"].clone();
            let made = api.post("/jobs", job(json!({"name": name, "schedule": spread()}))).await.ok();
            let offset = made["schedule"]["spread_offset_seconds"].as_i64().unwrap();
            assert_eq!(shown["offset_seconds"], offset, "{shown}");
            assert!(shown["why"].as_str().unwrap().ends_with("is where the least happens."), "{shown}");
            let next = made["next_fire_at"].as_str().unwrap();
            assert!(next.ends_with(&format!(":{offset:02}.000Z")), "{next}");
            taken.push(offset);
        }
        taken.sort_unstable();
        assert_eq!(taken, (0..10).collect::<Vec<_>>(), "each has a second of its own");
        // Another expression keeps the offset, another window does not.
        let jobs = api.get("/jobs").await;
        let made = &jobs.json["items"][0];
        let path = format!("/jobs/{}", made["id"]);
        let edit = async |schedule| {
            api.put(&path, job(json!({"schedule": schedule}))).await.ok()["schedule"]["spread_offset_seconds"].clone()
        };
        let mut schedule = spread();
        schedule["expression"] = json!("0 0/2 * * * ?");
        assert_eq!(edit(schedule.clone()).await, made["schedule"]["spread_offset_seconds"]);
        schedule["spread_seconds"] = json!(20);
        assert!(edit(schedule.clone()).await.as_i64().unwrap() >= 10, "those are free");
        schedule["spread_seconds"] = json!(0);
        assert_eq!(edit(schedule).await, Value::Null);
    });
}

// covers: W8
#[test]
fn many_previews_at_once_share_one_count_and_name_no_other_job() {
    api(async |api| {
        for app in ["billing", "payroll"] {
            api.post("/apps", json!({"name": app})).await.ok();
        }
        for second in 0..4 {
            let schedule = json!({"kind": "cron", "expression": format!("{second} * * * * ?")});
            let secret = json!({"app": "payroll", "name": "Dismissals", "schedule": schedule});
            api.post("/jobs", job(secret)).await.ok();
        }
        let body = job(json!({"schedule": spread()}));
        let at_once = async || join_all((0..50).map(|_| preview(api, body.clone()))).await;
        let first = at_once().await;
        let chosen = first[0]["spread"]["offset_seconds"].as_i64().unwrap();
        assert!(chosen >= 4, "the loads are counted: {}", first[0]);
        assert!(first.iter().all(|it| *it == first[0]), "one answer for all");
        let text = first[0].to_string();
        assert!(!text.contains("payroll") && !text.contains("Dismissals"), "{text}");
        // A count of its own would find no job now and choose another second.
        api.sql("DELETE FROM job_clock").await;
        assert!(at_once().await.iter().all(|it| *it == first[0]), "counted once");
    });
}

#[test]
fn an_anchor_and_an_offset_are_members_of_the_schedule() {
    api(async |api| {
        // As another server has it: the phase moves along with the job.
        let rate = json!({"kind": "fixed_rate", "seconds": 3600, "anchor_at": "2020-02-02T02:02:02Z",
                          "spread_seconds": 60, "spread_offset_seconds": 41});
        let made = api.job(json!({"schedule": rate})).await;
        assert!(made["next_fire_at"].as_str().unwrap().ends_with(":02:43.000Z"), "{made}");
        assert_eq!(made["schedule"]["anchor_at"], "2020-02-02T02:02:02Z");
        let path = format!("/jobs/{}", made["id"]);
        // What an answer has may be sent back; left out, the phase stays; given, it moves.
        let again = api.put(&path, made.clone()).await.ok();
        assert_eq!((&again["schedule"], &again["next_fire_at"]), (&made["schedule"], &made["next_fire_at"]));
        let edit = async |members: Value| {
            let mut schedule = json!({"kind": "fixed_rate", "seconds": 3600, "spread_seconds": 60});
            schedule.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            api.put(&path, job(json!({"schedule": schedule}))).await
        };
        assert_eq!(edit(json!({})).await.ok()["schedule"], made["schedule"]);
        let moved = edit(json!({"anchor_at": "2020-02-02T02:05:00Z"})).await.ok();
        assert!(moved["next_fire_at"].as_str().unwrap().ends_with(":05:41.000Z"), "{moved}");
        let moved = edit(json!({"spread_offset_seconds": 0})).await.ok();
        assert!(moved["next_fire_at"].as_str().unwrap().ends_with(":05:00.000Z"), "{moved}");
        assert_eq!(
            edit(json!({"spread_offset_seconds": 60})).await.error(),
            "400 invalid schedule.spread_offset_seconds: 60 is not allowed; 0 to 59 seconds"
        );
        assert_eq!(
            edit(json!({"anchor_at": "2020-02-02T02:05:00.5Z"})).await.error(),
            "400 invalid schedule.anchor_at: 2020-02-02T02:05:00.500Z is not allowed; a whole second from 1970 to 9999"
        );
    });
}

#[test]
fn a_batch_is_spread_too() {
    api(async |api| {
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let jobs: Vec<Value> =
            (0..10).map(|n| job(json!({"name": format!("job {n}"), "schedule": spread()}))).collect();
        let made = api.post("/jobs:batch", json!(jobs)).await;
        let offset = |schedule: &Value| schedule["spread_offset_seconds"].as_i64().unwrap();
        let mut taken: Vec<_> = made.column("schedule").iter().map(offset).collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn a_forecast_counts_all_enabled_jobs() {
    api(async |api| {
        let each = |seconds| json!({"schedule": {"kind": "fixed_rate", "seconds": seconds}});
        api.job(each(30)).await;
        api.post("/apps", json!({"name": "shipping"})).await.ok();
        let mut other = job(each(3600));
        other["app"] = json!("shipping");
        api.post("/jobs", other.clone()).await.ok();
        other["enabled"] = json!(false);
        api.post("/jobs", other).await.ok();
        let found = api.get("/forecast?hours=2").await.ok();
        assert_eq!(
            (&found["from"], &found["to"]),
            (&json!("2025-10-09T08:54:00.400Z"), &json!("2025-10-09T10:54:00.400Z"))
        );
        assert_eq!((&found["jobs"], &found["fires"], &found["complete_to"]), (&json!(2), &json!(242), &found["to"]));
        assert_eq!(found["apps"], json!({"billing": 240, "shipping": 2}));
        assert_eq!(found["minutes"].as_array().unwrap().len(), 121);
        let hour = json!({"at": "2025-10-09T09:54:00.000Z", "fires": 3, "apps": {"billing": 2, "shipping": 1}});
        assert!(found["minutes"].as_array().unwrap().contains(&hour));
        assert_eq!(found["busiest"].as_array().unwrap().len(), 20);
        assert_eq!(found["busiest"][0], json!({"at": "2025-10-09T09:54:00.000Z", "fires": 2}));
        let wrong = api.get("/forecast?hours=169").await.error();
        assert_eq!(wrong, "400 invalid hours: \"169\" is not allowed here; a number from 1 to 168");
    });
}
