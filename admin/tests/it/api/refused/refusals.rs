//! Who is not answered, and paths and methods that do not exist.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::api::client::{Api, api};
use crate::services::{Kind, TestDatabase, on};

const PATHS: [(&str, &str); 17] = [
    ("GET", "/apps"),
    ("POST", "/apps"),
    ("GET", "/jobs"),
    ("POST", "/jobs"),
    ("POST", "/jobs:batch"),
    ("GET", "/jobs/1"),
    ("PUT", "/jobs/1"),
    ("DELETE", "/jobs/1"),
    ("POST", "/jobs/1/enable"),
    ("POST", "/jobs/1/disable"),
    ("POST", "/jobs/1/run"),
    ("GET", "/jobs/1/next"),
    ("GET", "/runs"),
    ("GET", "/runs/1"),
    ("POST", "/runs/1/kill"),
    ("GET", "/runs/1/log"),
    ("GET", "/misfires"),
];

/// Each method and path of the API's document, with a 1 for each id and name.
async fn documented(api: &Api) -> Vec<(String, String)> {
    let document = api.send(api.request(Method::GET, "/openapi.json")).await.ok();
    let mut operations = vec![];
    for (path, item) in document["paths"].as_object().unwrap() {
        let segment = |segment: &str| if segment.starts_with('{') { "1".to_owned() } else { segment.to_owned() };
        let path = path.split('/').map(segment).collect::<Vec<_>>().join("/");
        let methods = item.as_object().unwrap().keys().filter(|name| *name != "parameters");
        operations.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
    }
    operations.retain(|(_, path)| path != "/openapi.json");
    operations
}

// covers: S7, S10, S15
#[test]
fn nothing_is_answered_without_the_token() {
    api(async |api| {
        let mut operations = documented(api).await;
        assert!(PATHS.iter().all(|(method, path)| operations.contains(&(method.to_string(), path.to_string()))));
        operations.extend([("GET", "/nowhere"), ("PATCH", "/jobs")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        for (method, path) in &operations {
            let request = || api.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
            let none = api.send(request()).await;
            assert_eq!(none.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            assert_eq!(none.headers["www-authenticate"], "Bearer");
            assert!(none.error().contains("Authorization: Bearer TOKEN"), "{}", none.error());
            let cookie = api.send(request().header("Cookie", format!("session={0}; token={0}", api.token))).await;
            assert_eq!(cookie.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            let wrong = api.send(request().bearer_auth(format!("{}x", api.token))).await;
            assert_eq!(
                wrong.error(),
                "401 unauthorized this is not the API token of this node, nor a personal token that is valid"
            );
        }
    });
}

// covers: S14
#[test]
fn the_executors_token_is_no_api_token() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mut config = db.config();
        config.api_token = Some(carillon_accounts::secret::random_secret());
        let executors = config.access_token.clone();
        let api = Api::with(db, config, executors).await;
        assert_eq!(api.get("/jobs").await.status, StatusCode::UNAUTHORIZED);
        let xxl = api.request(Method::GET, "/jobs").header("XXL-JOB-ACCESS-TOKEN", &api.token);
        assert_eq!(api.send(xxl).await.status, StatusCode::UNAUTHORIZED);
    });
}

#[test]
fn a_node_without_an_api_token_answers_like_one_that_has_another() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let secret = carillon_accounts::secret::random_secret;
        let without = Api::with(db, db.config(), secret()).await;
        let other = TestDatabase::new(Kind::Sqlite).await;
        let mut config = other.config();
        config.api_token = Some(secret());
        let with = Api::with(&other, config, secret()).await;
        let answers = async |api: &Api| {
            let answers = [api.get("/jobs").await, api.send(api.request(Method::GET, "/jobs")).await];
            answers.map(|answer| answer.error())
        };
        let told = answers(&without).await;
        assert!(told.iter().all(|text| text.starts_with("401 unauthorized ") && !text.contains("--")), "{told:?}");
        assert_eq!(told, answers(&with).await);
        let document = without.send(without.request(Method::GET, "/openapi.json")).await;
        assert_eq!(document.status, StatusCode::OK);
    });
}

#[test]
fn other_paths_and_methods_are_refused_in_the_same_shape() {
    api(async |api| {
        let nowhere = api.get("/nowhere").await.error();
        assert_eq!(nowhere, "404 not_found there is no /api/v1/nowhere; see /api/v1/openapi.json");
        assert!(api.get("/jobs/1/2/3").await.error().starts_with("404 not_found"));
        let wrong = api.put("/jobs", json!({})).await;
        assert_eq!(wrong.error(), "405 method_not_allowed PUT is not for this path; allowed: GET, POST");
        assert_eq!(wrong.headers["allow"], "GET, POST");
        let patch = api.request(Method::PATCH, "/jobs/1").bearer_auth(&api.token);
        assert_eq!(api.send(patch).await.headers["allow"], "GET, PUT, DELETE");
        assert_eq!(api.delete("/jobs:batch").await.headers["allow"], "POST");
    });
}

#[test]
fn there_is_no_job_and_no_run_of_that_number() {
    api(async |api| {
        for (method, path) in PATHS.into_iter().filter(|(_, path)| path.contains("/1")) {
            let body = crate::api::client::job(json!({}));
            let body = if method == "PUT" { body } else { json!({}) };
            let request = api.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
            let answer = api.send(request.bearer_auth(&api.token).json(&body)).await;
            assert!(answer.error().starts_with("404 not_found "), "{method} {path}: {}", answer.error());
        }
    });
}
