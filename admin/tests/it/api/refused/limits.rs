//! What one token, one account and one app may take. The clock is stopped, so no used-up limit is refilled.

use std::time::Duration;

use carillon_accounts::secret::{is_secret, random_secret};
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_admin::config::Config;
use carillon_scheduler::AuditAction;
use carillon_store::audit::list::AuditFilter;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::api::client::{Api, job};
use crate::console::client::ConsoleClient;
use crate::services::{Kind, TestDatabase, on};

fn limited(change: impl Fn(&mut Config), test: impl AsyncFnOnce(&Api)) {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let (mut config, token) = (db.config(), random_secret());
        config.api_token = Some(token.clone());
        change(&mut config);
        test(&Api::with(db, config, token).await).await;
    });
}

/// Code and text of the answer to a registration.
async fn register(api: &Api, path: &str, app: &str, address: &str) -> (i64, String) {
    let body = json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address});
    let request = api.at(Method::POST, path).header("XXL-JOB-ACCESS-TOKEN", &api.access_token);
    let answer = api.send(request.json(&body)).await;
    assert_eq!(answer.status, StatusCode::OK);
    (answer.json["code"].as_i64().unwrap(), answer.json["msg"].as_str().unwrap_or_default().to_owned())
}

fn address(number: u32) -> String {
    format!("http://10.0.0.{number}:9999")
}

/// The actors of the entries about limits.
async fn limits_in_audit(api: &Api) -> Vec<String> {
    let filter = AuditFilter { actions: vec![AuditAction::Limit], limit: 100, ..AuditFilter::default() };
    let entries = api.store.audit().list(&filter).await.unwrap().items;
    entries.into_iter().map(|entry| entry.actor).collect()
}

// covers: S40, V9
#[test]
fn a_token_that_asks_too_often_is_answered_429() {
    limited(
        |config| config.request_rate = 1,
        async |api| {
            for _ in 0..10 {
                assert_eq!(api.get("/apps").await.status, StatusCode::OK);
            }
            let url = api.request(Method::GET, "/apps").bearer_auth(&api.token);
            let refused = url.send().await.unwrap();
            assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(refused.headers()["retry-after"], "1");
            let body: Value = refused.json().await.unwrap();
            assert_eq!(body["error"]["code"], "too_many");
            for _ in 0..5 {
                assert_eq!(api.get("/apps").await.status, StatusCode::TOO_MANY_REQUESTS);
            }
            assert_eq!(limits_in_audit(api).await, ["api-token"], "one row in a minute");
            // Others are answered: an executor, and who is not known.
            assert_eq!(register(api, "/api/registry", "billing", &address(1)).await.0, 200);
            let unknown = api.request(Method::GET, "/apps").bearer_auth("wrong").send().await.unwrap();
            assert_eq!(unknown.status(), StatusCode::UNAUTHORIZED);
        },
    );
}

// covers: S40, V9
#[test]
fn a_token_that_asks_too_often_leaves_its_owner_the_console() {
    let password = random_secret();
    limited(
        |config| {
            config.request_rate = 1;
            config.admin_password = Some(password.clone());
        },
        async |api| {
            let visitor = ConsoleClient::new(api.url());
            assert_eq!(visitor.sign_in(FIRST_ADMIN, &password).await.status, 303);
            let (csrf, own) = (visitor.csrf().await, ("own_password", password.as_str()));
            let fields =
                [("csrf", &*csrf), own, ("name", "script"), ("role", "viewer"), ("apps", "all"), ("days", "1")];
            let made = visitor.post("/account/tokens", Some(api.url()), &fields).await;
            let tokens = made.body.split("carillon_").filter_map(|rest| rest.get(..43));
            let token = format!("carillon_{}", tokens.filter(|it| is_secret(it)).last().unwrap());
            let ask = async |path: &str| api.send(api.at(Method::GET, path).bearer_auth(&token)).await;
            // What programs ask by path is counted for the same token.
            for path in ["/api/v1/apps", "/metrics"].iter().cycle().take(10) {
                assert_eq!(ask(path).await.status, StatusCode::OK, "{path}");
            }
            for path in ["/api/v1/apps", "/metrics"] {
                let refused = ask(path).await;
                assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
                assert_eq!(refused.headers["retry-after"], "1", "{path}");
            }
            assert_eq!(visitor.get("/account").await.status, 200, "where it can be revoked");
            assert_eq!(api.get("/apps").await.status, StatusCode::OK, "another token");
        },
    );
}

// covers: S40, V9
#[test]
fn registrations_are_limited_in_the_words_of_the_protocol_and_results_are_not() {
    limited(
        |config| config.registration_rate = 1,
        async |api| {
            for number in 1..=10 {
                assert_eq!(register(api, "/api/registry", "billing", &address(number)).await.0, 200);
            }
            for path in ["/api/registry", "/api/registryRemove"] {
                let (code, text) = register(api, path, "billing", &address(11)).await;
                assert_eq!(code, 500);
                assert!(text.contains("more than 1 registrations a second with this token"), "{text}");
            }
            assert_eq!(api.store.apps().executors().await.unwrap().len(), 10);
            let callback = api.at(Method::POST, "/api/callback").header("XXL-JOB-ACCESS-TOKEN", &api.access_token);
            assert_eq!(api.send(callback.json(&json!([]))).await.json["code"], 200);
            assert_eq!(api.metric("carillon_rate_limited_total").await, 2.0);
            assert_eq!(limits_in_audit(api).await, ["executor"]);
        },
    );
}

// covers: V9
#[test]
fn an_app_has_a_number_of_live_executors_and_unknown_names_count_together() {
    limited(
        |config| config.engine.limits.app_executors = 2,
        async |api| {
            api.post("/apps", json!({"name": "billing", "title": "Billing"})).await.ok();
            for (app, number, expected) in [
                ("billing", 1, 200),
                ("billing", 2, 200),
                ("billing", 3, 500),
                ("billing", 1, 200),
                ("unknown-1", 4, 200),
                ("unknown-2", 5, 200),
                ("unknown-3", 6, 500),
                ("unknown-2", 5, 200),
            ] {
                let (code, text) = register(api, "/api/registry", app, &address(number)).await;
                assert_eq!(code, expected, "{app} {number}: {text}");
                assert!(code == 200 || text.contains("2 live executors already (--app-executors)"), "{text}");
            }
            api.sql("UPDATE executor SET expires_at = 1 WHERE address LIKE '%.2:9999'").await;
            assert_eq!(register(api, "/api/registry", "billing", &address(3)).await.0, 200, "one is over");
        },
    );
}

// covers: S40, V9
#[test]
fn an_app_has_a_number_of_jobs() {
    limited(
        |config| config.engine.limits.app_jobs = 2,
        async |api| {
            for name in ["billing", "orders"] {
                api.post("/apps", json!({"name": name, "title": name})).await.ok();
            }
            let first = api.post_with_key("/jobs", "first", job(json!({}))).await.ok();
            let two = api.post("/jobs:batch", json!([job(json!({})), job(json!({}))])).await;
            assert_eq!(two.status, StatusCode::BAD_REQUEST);
            assert!(two.error().contains("app billing has 1 jobs; an app may have 2 (--app-jobs)"), "{}", two.error());
            api.post("/jobs", job(json!({}))).await.ok();
            assert_eq!(api.post("/jobs", job(json!({}))).await.status, StatusCode::BAD_REQUEST);
            let repeated = api.post_with_key("/jobs", "first", job(json!({}))).await.ok();
            assert_eq!(repeated["id"], first["id"], "what a client repeats is answered");
            let other = api.post("/jobs", job(json!({"app": "orders"}))).await.ok();
            // Nor by moving one there.
            let moved = job(json!({"revision": other["revision"]}));
            let answer = api.put(&format!("/jobs/{}", other["id"]), moved).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.error());
        },
    );
}

// covers: S40
#[test]
fn a_schedule_that_fires_more_often_than_allowed_is_not_saved() {
    limited(
        |config| config.engine.limits.min_period = Duration::from_secs(60),
        async |api| {
            api.post("/apps", json!({"name": "billing", "title": "Billing"})).await.ok();
            for (schedule, is_allowed) in [
                (json!({"kind": "fixed_rate", "seconds": 59}), false),
                (json!({"kind": "fixed_rate", "seconds": 60}), true),
                (json!({"kind": "fixed_delay", "seconds": 1}), false),
                (json!({"kind": "cron", "expression": "0/30 0 3 * * ?"}), false),
                (json!({"kind": "cron", "expression": "0 * * * * ?"}), true),
                (json!({"kind": "none"}), true),
            ] {
                let answer = api.post("/jobs", job(json!({"schedule": schedule}))).await;
                assert_eq!(answer.status.is_success(), is_allowed, "{schedule}: {}", answer.json);
                assert!(is_allowed || answer.error().contains("apart; at least 60s (--min-period)"), "{}", answer.json);
            }
        },
    );
}

// covers: V6, S19
#[test]
fn an_address_that_leads_to_an_internal_host_is_not_registered() {
    let networks = carillon_admin::config::Networks::parse("executor-networks", "10.0.0.0/8").unwrap();
    limited(
        move |config| config.executor_networks = Some(networks.clone()),
        async |api| {
            for (address, why) in [
                ("http://0XA9FEA9FE/latest", "neither a name nor an address"),
                ("http://0X7F000001:8080/", "neither a name nor an address"),
                ("http://169.254.169.254/", "no executor can have"),
                ("http://[64:ff9b::a9fe:a9fe]/", "no executor can have"),
                ("http://127.0.0.1:9999/", "in none of the networks of --executor-networks"),
                ("http://192.168.7.7:9999/", "in none of the networks of --executor-networks"),
            ] {
                let (code, text) = register(api, "/api/registry", "billing", address).await;
                assert!(code == 500 && text.contains(why), "{address}: {text}");
            }
            assert_eq!(register(api, "/api/registry", "billing", "http://10.0.0.5:9999/").await.0, 200);
            assert_eq!(api.store.apps().executors().await.unwrap().len(), 1);
        },
    );
}

// covers: S19
#[test]
fn the_listener_of_the_node_itself_is_not_registered() {
    limited(
        |_| (),
        async |api| {
            let own = format!("http://{}/", api.address());
            let (code, text) = register(api, "/api/registry", "billing", &own).await;
            assert!(code == 500 && text.contains("belongs to this admin"), "{text}");
        },
    );
}
