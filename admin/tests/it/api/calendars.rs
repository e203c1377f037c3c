use serde_json::{Value, json};

use super::client::{Api, api, job};

fn bank() -> Value {
    json!({"name": "bank", "title": "Bank holidays", "weekdays": ["SAT", "SUN"], "days": ["2025-10-10"], "extra": []})
}

/// A job at noon of each day that the bank is open.
async fn noon(api: &Api) -> Value {
    let schedule = json!({"kind": "cron", "expression": "0 0 12 * * ?", "calendars": ["bank"]});
    api.job(json!({"schedule": schedule})).await
}

#[test]
fn a_calendar_is_made_changed_and_deleted() {
    api(async |api| {
        let made = api.post("/calendars", bank()).await;
        assert_eq!(made.status, 201);
        let made = made.json;
        assert_eq!((&made["version"], &made["jobs"]), (&json!(1), &json!(0)));
        for (member, value) in bank().as_object().unwrap() {
            assert_eq!(made[member], *value);
        }
        assert_eq!(api.get("/calendars/bank").await.ok(), made);
        assert_eq!(api.get("/calendars").await.column("name"), ["bank"]);
        // An answer is changed and sent back.
        let mut changed = made.clone();
        changed["days"] = json!(["2025-10-10", "2025-12-25"]);
        let newer = api.put("/calendars/bank", changed.clone()).await.ok();
        assert_eq!((&newer["version"], &newer["days"]), (&json!(2), &changed["days"]));
        let stale = api.put("/calendars/bank", changed.clone()).await.error();
        assert_eq!(stale, "409 changed the calendar \"bank\" has version 2 by now");
        changed.as_object_mut().unwrap().remove("version");
        assert_eq!(api.put("/calendars/bank", changed).await.ok()["version"], 2, "it is the same");
        let versions = api.get("/calendars/bank/versions").await;
        assert_eq!(versions.column("version"), [2, 1]);
        assert_eq!(versions.column("days"), [newer["days"].clone(), made["days"].clone()]);
        assert_eq!(api.delete("/calendars/bank").await.status, 204);
        assert_eq!(api.get("/calendars/bank").await.error(), "404 not_found there is no calendar \"bank\"");
    });
}

#[test]
fn a_name_may_have_any_letters() {
    api(async |api| {
        let name = "Österreich & 中国 %";
        api.post("/calendars", json!({"name": name})).await.ok();
        let path = "/calendars/%C3%96sterreich%20%26%20%E4%B8%AD%E5%9B%BD%20%25";
        assert_eq!(api.get(path).await.ok()["name"], name);
    });
}

#[test]
fn its_jobs_are_planned_anew_before_the_answer() {
    api(async |api| {
        api.post("/calendars", bank()).await.ok();
        let job = noon(api).await;
        assert_eq!(job["next_fire_at"], "2025-10-09T12:00:00.000Z");
        let refused = api.delete("/calendars/bank").await.error();
        let text = format!("409 in_use the calendar \"bank\" is used by 1 job: {} (Close the day)", job["id"]);
        assert_eq!(refused, text);
        // Today, tomorrow and the weekend are closed, but this Sunday is not.
        let change = json!({"weekdays": ["SAT", "SUN"], "days": ["2025-10-09", "2025-10-10"], "extra": ["2025-10-12"]});
        let changed = api.put("/calendars/bank", change).await.ok();
        assert_eq!((&changed["title"], &changed["jobs"]), (&json!(""), &json!(1)));
        let planned = api.get(&format!("/jobs/{}", job["id"])).await.ok();
        assert_eq!(planned["next_fire_at"], "2025-10-12T12:00:00.000Z");
        assert_eq!(planned["revision"], 2);
    });
}

#[test]
fn what_is_wrong_with_a_calendar_is_said() {
    api(async |api| {
        api.post("/calendars", bank()).await.ok();
        let wrong = async |body| api.post("/calendars", body).await.error();
        assert_eq!(wrong(bank()).await, "409 taken the calendar name \"bank\" is taken already");
        for (body, text) in [
            (json!({}), "name: is missing; it is required"),
            (json!({"name": ""}), "name: must not be empty; 1 to 64 characters"),
            (json!({"name": 5}), "name: invalid type: integer `5`, expected a string"),
            (json!({"name": "a/b"}), "name: must not contain a `/`: it stands in addresses"),
            (
                json!({"name": "x", "days": ["2025-12-25", "2025-02-30"]}),
                "days[1]: \"2025-02-30\" is not a day; write YEAR-MONTH-DAY, such as 2026-12-25",
            ),
            (
                json!({"name": "x", "extra": "2025-12-25"}),
                "extra: invalid type: string \"2025-12-25\", expected a list",
            ),
            (
                json!({"name": "x", "weekdays": ["SAT", "Sonntag"]}),
                "weekdays[1]: \"Sonntag\" is not a weekday; write MON, TUE, WED, THU, FRI, SAT or SUN",
            ),
            (json!({"name": "x", "days": ["1969-12-31"]}), "days: 1969-12-31 is not allowed; years are 1970 to 9999"),
        ] {
            assert_eq!(wrong(body).await, format!("400 invalid {text}"));
        }
        let unknown = wrong(json!({"name": "x", "holidays": []})).await;
        assert!(
            unknown.starts_with("400 invalid holidays: there is no member `holidays`; expected one of `name`"),
            "{unknown}"
        );
        let renamed = api.put("/calendars/bank", json!({"name": "bench"})).await.error();
        assert_eq!(renamed, "400 invalid name: differs from the \"bank\" of the path; a calendar keeps its name");
        assert_eq!(
            api.put("/calendars/bench", json!({})).await.error(),
            "404 not_found there is no calendar \"bench\""
        );
    });
}

#[test]
fn a_job_may_only_name_calendars_that_there_are() {
    api(async |api| {
        let schedule = json!({"kind": "fixed_rate", "seconds": 60, "calendars": ["bank"]});
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let refused = api.post("/jobs", job(json!({"schedule": schedule}))).await.error();
        assert!(refused.starts_with("400 invalid schedule.calendars: ") && refused.contains("bank"), "{refused}");
        api.post("/calendars", bank()).await.ok();
        let made = api.post("/jobs", job(json!({"schedule": schedule}))).await.ok();
        assert_eq!(made["schedule"]["calendars"], json!(["bank"]));
    });
}
