use serde_json::json;

use super::client::api;

#[test]
fn an_app_is_paused_and_the_pause_is_ended() {
    api(async |api| {
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let body = json!({"app": "billing", "note": "deployment", "until": "2025-10-09T10:00:00Z"});
        let made = api.post("/pauses", body).await;
        assert_eq!(made.status, 201);
        assert_eq!((&made.json["app"], &made.json["from"]), (&json!("billing"), &json!("2025-10-09T08:54:00.400Z")));
        api.post("/pauses", json!({"note": "the database moves", "from": "2025-10-10T00:00:00Z"})).await.ok();
        let list = api.get("/pauses").await;
        assert_eq!(list.column("note"), ["deployment", "the database moves"]);
        assert!(list.json["items"][1]["app"].is_null() && list.json["items"][1]["until"].is_null());
        let path = format!("/pauses/{}", made.json["id"]);
        assert_eq!(api.delete(&path).await.status, 204);
        assert!(api.delete(&path).await.error().starts_with("404 not_found there is no pause"));
        assert_eq!(api.get("/pauses").await.column("note"), ["the database moves"]);
    });
}

#[test]
fn what_is_wrong_with_a_pause_is_named() {
    api(async |api| {
        let wrong = async |body| api.post("/pauses", body).await.error();
        assert_eq!(wrong(json!({"app": "other", "note": "x"})).await, "400 invalid app: there is no app \"other\"");
        assert_eq!(
            wrong(json!({"note": " "})).await,
            "400 invalid note: must say why, so that others know whether it may be ended"
        );
        assert_eq!(
            wrong(json!({"note": "x".repeat(501)})).await,
            "400 invalid note: has 501 characters; at most 500 are allowed"
        );
        assert_eq!(
            wrong(json!({"note": "x", "until": "2025-10-09T08:54:00Z"})).await,
            "400 invalid until: must be later than now and later than the start"
        );
        assert_eq!(
            wrong(json!({"note": "x", "from": "2027-01-01T00:00:00Z"})).await,
            "400 invalid from: is more than a year ahead"
        );
        assert_eq!(
            wrong(json!({"note": "x", "until": "9999-01-01T00:00:00Z"})).await,
            "400 invalid until: is more than a year ahead"
        );
    });
}

#[test]
fn a_maintenance_window_is_made_listed_and_deleted() {
    api(async |api| {
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let body = json!({"app": "billing", "note": "patches", "expression": "0 0 2 ? * SUN", "timezone": "Europe/Berlin", "minutes": 120});
        let made = api.post("/maintenance-windows", body).await;
        assert_eq!(made.status, 201);
        let first = json!({"from": "2025-10-12T00:00:00.000Z", "until": "2025-10-12T02:00:00.000Z"});
        assert_eq!(made.json["times"][0], first);
        // The clocks are set back on the 26th: two hours later it is still 03:00.
        assert_eq!(
            made.json["times"][2],
            json!({"from": "2025-10-26T00:00:00.000Z", "until": "2025-10-26T02:00:00.000Z"})
        );
        let list = api.get("/maintenance-windows").await.ok();
        assert_eq!(list["items"], json!([made.json]));
        let path = format!("/maintenance-windows/{}", made.json["id"]);
        let none_now = api.post(&format!("{path}/end"), json!({})).await.error();
        assert!(none_now.starts_with("404 not_found there is no maintenance window"), "{none_now}");
        assert_eq!(api.delete(&path).await.status, 204);
        assert!(api.delete(&path).await.error().starts_with("404 not_found there is no maintenance window"));
    });
}

#[test]
fn what_is_wrong_with_a_maintenance_window_is_named() {
    api(async |api| {
        let good = json!({"note": "patches", "expression": "0 0 2 ? * SUN", "minutes": 120});
        for (member, value, told) in [
            ("app", json!("other"), "400 invalid app: there is no app \"other\""),
            ("note", json!(" "), "400 invalid note: must say why, so that others know whether it may be ended"),
            ("expression", json!("0 0 25 ? * SUN"), "400 invalid expression: "),
            ("expression", json!("0 0 2 30 2 ?"), "400 invalid expression: "),
            ("timezone", json!("Mars/Phobos"), "400 invalid timezone: "),
            ("minutes", json!(0), "400 invalid minutes: 0 is not allowed; 1 to 10080"),
            (
                "minutes",
                json!(10_080),
                "400 invalid minutes: the window would start again after 10080 min, before it ends",
            ),
            ("days", json!(1), "400 invalid days: there is no member `days`"),
        ] {
            let mut body = good.clone();
            body[member] = value;
            let answer = api.post("/maintenance-windows", body).await.error();
            assert!(answer.starts_with(told), "{answer} is not {told}");
        }
    });
}

// covers: S40
#[test]
fn pauses_of_one_app_leave_room_for_those_of_others() {
    api(async |api| {
        for app in ["billing", "shipping"] {
            api.post("/apps", json!({"name": app})).await.ok();
        }
        let pause = async |app: &str| api.post("/pauses", json!({"app": app, "note": "x"})).await;
        let window = async |app: &str| {
            let body = json!({"app": app, "note": "x", "expression": "0 0 2 * * ?", "timezone": "UTC", "minutes": 5});
            api.post("/maintenance-windows", body).await
        };
        for _ in 0..50 {
            pause("billing").await.ok();
        }
        for _ in 0..20 {
            window("billing").await.ok();
        }
        let full = [pause("billing").await.error(), window("billing").await.error()];
        assert_eq!(full[0], "400 invalid app: there are 50 pauses already; end some of them first");
        assert_eq!(full[1], "400 invalid app: there are 20 windows already; delete some of them first");
        pause("shipping").await.ok();
        window("shipping").await.ok();
        for (list, count) in [("/pauses", 51), ("/maintenance-windows", 21)] {
            let apps = api.get(list).await.column("app");
            assert_eq!((apps.len(), apps.last()), (count, Some(&json!("shipping"))), "{list}");
        }
    });
}
