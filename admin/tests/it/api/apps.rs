use serde_json::json;

use super::client::api;

#[test]
fn apps_are_made_and_listed_by_name() {
    api(async |api| {
        let made = api.post("/apps", json!({"name": "shipping", "title": "Shipping"})).await;
        assert_eq!(made.status, 201);
        assert_eq!(made.json["name"], "shipping");
        assert_eq!(made.json["created_at"], "2025-10-09T08:54:00.400Z");
        api.post("/apps", json!({"name": "billing"})).await.ok();
        let list = api.get("/apps").await;
        assert_eq!(list.column("name"), ["billing", "shipping"]);
        assert_eq!(list.column("title"), ["billing", "Shipping"]);
        assert_eq!(list.json["items"][1], made.json);
    });
}

#[test]
fn what_is_wrong_with_an_app_is_said() {
    api(async |api| {
        let wrong = async |body| api.post("/apps", body).await.error();
        api.post("/apps", json!({"name": "billing"})).await.ok();
        assert_eq!(wrong(json!({"name": "billing"})).await, "409 taken the app name \"billing\" is taken already");
        assert_eq!(wrong(json!({"title": "x"})).await, "400 invalid name: is missing; it is required");
        assert_eq!(wrong(json!({"name": 5})).await, "400 invalid name: invalid type: integer `5`, expected a string");
        assert_eq!(
            wrong(json!({"name": "abc"})).await,
            "400 invalid name: an app name has 4 to 64 characters, this has 3"
        );
        assert!(wrong(json!({"name": "<b>x</b>"})).await.starts_with("400 invalid name: '<' is not allowed"));
        assert_eq!(
            wrong(json!({"name": "good-name", "titel": "x"})).await,
            "400 invalid titel: there is no member `titel`; expected `name` or `title`"
        );
        let long = "x".repeat(65);
        assert_eq!(
            wrong(json!({"name": "good-name", "title": long})).await,
            "400 invalid title: has 65 characters; at most 64 are allowed"
        );
        assert!(wrong(json!(["good-name"])).await.starts_with("400 invalid the body must be an app"));
    });
}

#[test]
fn an_app_is_renamed_and_deleted() {
    api(async |api| {
        let app = api.post("/apps", json!({"name": "billing"})).await.ok();
        let path = format!("/apps/{}", app["id"]);
        let titled = api.put(&path, json!({"title": "Billing EU"})).await.ok();
        assert_eq!((&titled["name"], &titled["title"]), (&json!("billing"), &json!("Billing EU")));
        let renamed = api.put(&path, json!({"name": "invoices"})).await.ok();
        assert_eq!((&renamed["name"], &renamed["title"]), (&json!("invoices"), &json!("Billing EU")));
        let names = format!("{path}/former-names");
        assert_eq!(api.get(&names).await.column("name"), ["billing"]);
        for (answer, told) in [
            (api.put(&path, json!({"name": "no"})).await, "400 invalid name: "),
            (api.put(&path, json!({"title": "x".repeat(65)})).await, "400 invalid title: has 65 characters"),
            (api.post("/apps", json!({"name": "billing"})).await, "409 "),
            (api.put("/apps/999", json!({"name": "nobody"})).await, "404 not_found there is no app 999"),
            (api.delete("/apps/999").await, "404 not_found there is no app 999"),
            (api.delete(&format!("{names}?name=other")).await, "404 not_found there is no former name"),
            (api.delete(&names).await, "400 invalid name: is missing"),
        ] {
            assert!(answer.error().starts_with(told), "{} is not {told}", answer.error());
        }
        assert_eq!(api.delete(&format!("{names}?name=billing")).await.status, 204);
        let job = api.post("/jobs", json!({"app": "invoices", "name": "new", "handler": "h"})).await.ok();
        let used = api.delete(&path).await.error();
        assert!(used.contains("app invoices has 1 jobs and 0 runs that have not ended"), "{used}");
        assert_eq!(api.delete(&format!("/jobs/{}", job["id"])).await.status, 204);
        assert_eq!(api.delete(&path).await.status, 204);
        assert_eq!(api.get("/apps").await.ok()["items"], json!([]));
    });
}
