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
            "400 invalid until: must be later than now and than the begin"
        );
        assert_eq!(
            wrong(json!({"note": "x", "from": "2027-01-01T00:00:00Z"})).await,
            "400 invalid from: is more than a year ahead"
        );
    });
}
