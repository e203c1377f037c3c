//! Scripts: who may save and read them.

use std::time::Duration;

use carillon_accounts::token::{self, TokenRequest};
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, Grants};
use carillon_testkit::ApiClient;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::api::client::{Api, NOW};
use crate::services::{Kind, TestDatabase, on};

fn with(scripts: bool, test: impl AsyncFnOnce(&Api)) {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mut config = db.config();
        let token = carillon_accounts::secret::random_secret();
        (config.api_token, config.engine.scripts) = (Some(token.clone()), scripts);
        let api = Api::with(db, config, token).await;
        api.post("/apps", json!({"name": "billing"})).await.ok();
        test(&api).await;
    });
}

/// A client with the personal token of an account that has these grants.
async fn person(api: &Api, name: &str, grants: &str, of_token: &str) -> ApiClient {
    let app = api.store.apps().by_name("billing").await.unwrap().unwrap().id.to_string();
    let read = |text: &str| text.replace("billing", &app).parse::<Grants>().unwrap();
    let new = NewAccount { name, password_hash: "none", grants: &read(grants) };
    let account_id = api.store.people().create_account(&new, NOW, &Actor::engine()).await.unwrap();
    // Tokens of before the account had less.
    let by = Actor::new(name, "", read("all:admin all:script"));
    let request = TokenRequest { account_id, name: "t", grants: &read(of_token), days: 1, credentials: 0 };
    let token = token::create(&api.store, &request, NOW, &by).await.unwrap();
    ApiClient::new([api.url().to_owned()], &token, Duration::from_secs(20))
}

fn job(source: &str) -> Value {
    json!({"app": "billing", "name": "n", "key": "k", "script": {"type": "shell", "source": source, "remark": "a remark"}})
}

// covers: S26
#[test]
fn a_default_installation_saves_no_script_of_anyone() {
    with(false, async |api| {
        let ada = person(api, "ada", "billing:editor billing:script", "all:editor all:script").await;
        for client in [&ada, &**api] {
            let answer = client.post("/jobs", job("echo 1")).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.json);
            assert_eq!(answer.error(), "403 forbidden script jobs are switched off on this server (--scripts)");
        }
    });
}

// covers: S26
#[test]
fn only_the_right_to_scripts_saves_and_reads_a_source() {
    with(true, async |api| {
        let ada = person(api, "ada", "billing:editor billing:script", "all:editor all:script").await;
        let plain = person(api, "bob", "billing:admin", "all:admin all:script").await;
        let narrow = person(api, "eve", "billing:editor billing:script", "all:editor").await;
        for client in [&plain, &narrow, &**api] {
            let answer = client.post("/jobs", job("echo 1")).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.json);
            assert!(answer.error().ends_with("an editor of the app with the right to scripts may do this"));
        }
        let created = ada.post("/jobs", job("echo 1\r\n")).await.ok();
        let version = created["script"]["version"].as_i64().unwrap();
        assert_eq!(created["script"]["source"], Value::Null);
        assert_eq!((&created["handler"], &created["script"]["bytes"]), (&json!(""), &json!(7)));
        let path = format!("/jobs/{}", created["id"]);
        // Who may edit the job keeps its script, and changes the rest.
        let mut edited = plain.get(&path).await.ok();
        edited["params"] = json!("x");
        let edited = plain.put(&path, edited).await.ok();
        assert_eq!(edited["script"], created["script"]);
        let mut other = edited.clone();
        other["script"] = json!({"type": "shell", "source": "echo 2", "remark": "a remark"});
        assert_eq!(plain.put(&path, other.clone()).await.status, StatusCode::FORBIDDEN);
        let second = ada.put(&path, other).await.ok();
        let newest = second["script"]["version"].as_i64().unwrap();
        assert!(newest > version);
        let list = format!("{path}/scripts");
        for path in [list.clone(), format!("{list}/{version}")] {
            assert_eq!(plain.get(&path).await.status, StatusCode::FORBIDDEN);
            assert_eq!(api.get(&path).await.status, StatusCode::FORBIDDEN);
        }
        let versions = ada.get(&list).await.ok();
        assert_eq!(versions["items"].as_array().unwrap().len(), 2);
        assert_eq!((&versions["items"][0]["type"], &versions["items"][0]["author"]), (&json!("shell"), &json!("ada")));
        assert!(!versions.to_string().contains("echo"), "{versions}");
        assert_eq!(ada.get(&format!("{list}/{version}")).await.ok()["source"], "echo 1\n");
        // Back to the first source: a new version.
        let mut back = second.clone();
        back["script"] = json!({"type": "shell", "version": version, "remark": "back again"});
        assert_eq!(plain.put(&path, back.clone()).await.status, StatusCode::FORBIDDEN);
        let restored = ada.put(&path, back).await.ok();
        let third = restored["script"]["version"].as_i64().unwrap();
        assert!(third > newest);
        assert_eq!(ada.get(&format!("{list}/{third}")).await.ok()["source"], "echo 1\n");
        // Without its remark, and from the history.
        let mut gone = restored.clone();
        gone["script"] = json!({"type": "shell", "version": 7});
        assert_eq!(ada.put(&path, gone).await.error(), "400 invalid script.version: is not kept any more");
        let history = format!("{path}/history/{}/restore", second["revision"]);
        assert_eq!(plain.post(&history, json!({})).await.status, StatusCode::FORBIDDEN);
        assert!(ada.post(&history, json!({})).await.ok()["script"]["version"].as_i64().unwrap() > third);
    });
}

// covers: S26
#[test]
fn a_script_goes_to_no_app_without_the_right_there() {
    with(true, async |api| {
        api.post("/apps", json!({"name": "orders"})).await.ok();
        let ada = person(api, "ada", "all:editor billing:script", "all:editor all:script").await;
        let created = ada.post("/jobs", job("echo 1")).await.ok();
        let path = format!("/jobs/{}", created["id"]);
        let mut moved = created.clone();
        moved["app"] = json!("orders");
        assert_eq!(ada.put(&path, moved).await.status, StatusCode::FORBIDDEN);
        let bulk = json!({"action": "move", "app": "orders", "ids": [created["id"]]});
        let answer = ada.post("/jobs/bulk", bulk).await.ok();
        assert!(answer.to_string().contains("with the right to scripts may do this"), "{answer}");
    });
}

#[test]
fn a_job_has_a_handler_or_a_script() {
    with(true, async |api| {
        let mut both = job("echo 1");
        both["handler"] = json!("h");
        let answer = api.post("/jobs", both).await;
        assert_eq!(
            answer.error(),
            "400 invalid handler: must be empty where `script` is given: a job has a handler, a script, a workflow or an HTTP request"
        );
        let mut none = job("");
        none.as_object_mut().unwrap().remove("script");
        assert!(api.post("/jobs", none).await.error().contains("handler"));
        assert_eq!(api.post("/jobs", job(" ")).await.error(), "400 invalid script.source: must not be empty");
        let mut unsaid = job("echo 1");
        unsaid["script"] = json!({"type": "shell"});
        assert_eq!(
            api.post("/jobs", unsaid).await.error(),
            "400 invalid script.source: is missing; the job has no script yet"
        );
    });
}
