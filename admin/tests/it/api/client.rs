//! A client of the management API, and the node that it talks to. The clock stands still unless a test moves it.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_admin::Admin;
use carillon_admin::store::Store;
use carillon_engine::Engine;
use carillon_scheduler::{ManualClock, Millis};
use reqwest::{Method, StatusCode};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::services::{Kind, TestDatabase, on};

/// 2025-10-09T08:54:00.400Z: no whole second, so that "now" is no instant.
pub const NOW: Millis = 1_760_000_040_400;

pub struct Api {
    root: String,
    pub token: String,
    /// What executors present.
    pub access_token: String,
    http: reqwest::Client,
    pub store: Arc<Store>,
    /// Kept, or the node would stop answering.
    _engine: Arc<Engine>,
    raw: sea_orm::DatabaseConnection,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub json: Value,
}

impl Answer {
    /// The error as `status code field: message`.
    pub fn error(&self) -> String {
        let error = &self.json["error"];
        let field = error["field"].as_str().map_or(String::new(), |field| format!("{field}: "));
        let text = |name: &str| error[name].as_str().unwrap_or("?").to_owned();
        format!("{} {} {field}{}", self.status.as_u16(), text("code"), text("message"))
    }

    pub fn ok(self) -> Value {
        assert!(self.status.is_success(), "{}", self.error());
        self.json
    }

    /// The `items` of a list, by one member.
    pub fn column(&self, member: &str) -> Vec<Value> {
        let items = self.json["items"].as_array().unwrap_or_else(|| panic!("{}", self.error()));
        items.iter().map(|item| item[member].clone()).collect()
    }
}

/// A test of the API on SQLite: what differs between databases is tested with the store.
pub fn api(test: impl AsyncFnOnce(&Api)) {
    on(Kind::Sqlite, async |db: &TestDatabase| test(&Api::start(db).await).await);
}

impl Api {
    pub async fn start(db: &TestDatabase) -> Self {
        let token = random_secret();
        let mut config = db.config();
        config.api_token = Some(token.clone());
        Self::with(db, config, token).await
    }

    pub async fn with(db: &TestDatabase, config: carillon_admin::config::Config, token: String) -> Self {
        let clock = Arc::new(ManualClock::new(NOW));
        let access_token = config.access_token.clone();
        let admin = Admin::build(config, clock).await.unwrap();
        let root = format!("http://{}/api/v1", admin.address());
        let (_services, engine, store) = admin.serve_only().unwrap();
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        Self { root, token, access_token, http, store, _engine: engine, raw }
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.root))
    }

    /// Host and port of the node.
    pub fn address(&self) -> &str {
        self.root.trim_start_matches("http://").trim_end_matches("/api/v1")
    }

    /// A request to any path of the node, `/api/registry` for example.
    pub fn at(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let node = self.root.trim_end_matches("/api/v1");
        self.http.request(method, format!("{node}{path}"))
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        let json =
            if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap_or(Value::String(text)) };
        Answer { status, headers, json }
    }

    async fn with_token(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.request(method, path).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.send(request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.with_token(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.with_token(Method::POST, path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.with_token(Method::PUT, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.with_token(Method::DELETE, path, None).await
    }

    /// A body that need not be JSON.
    pub async fn post_text(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        self.send(self.request(Method::POST, path).bearer_auth(&self.token).body(body)).await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: Value) -> Answer {
        let request = self.request(Method::POST, path).bearer_auth(&self.token);
        self.send(request.header("Idempotency-Key", key).json(&body)).await
    }

    /// An app called `billing` and a job in it; answers the job.
    pub async fn job(&self, members: Value) -> Value {
        let app = self.post("/apps", json!({"name": "billing", "title": "Billing"})).await;
        assert!(app.status.is_success() || app.status == StatusCode::CONFLICT, "{}", app.error());
        self.post("/jobs", job(members)).await.ok()
    }

    /// The value of a metric without labels.
    pub async fn metric(&self, name: &str) -> String {
        let answer = self.send(self.at(Method::GET, "/metrics").bearer_auth(&self.token)).await;
        let text = answer.json.as_str().unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    }

    pub async fn sql(&self, text: &str) {
        self.raw.execute_unprepared(text).await.unwrap();
    }
}

/// A job with the three required members and these.
pub fn job(members: Value) -> Value {
    let mut job = json!({"app": "billing", "name": "Close the day", "handler": "closeDay"});
    for (name, value) in members.as_object().unwrap() {
        job[name] = value.clone();
    }
    job
}
