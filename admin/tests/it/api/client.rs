//! A client of the management API, and the node that it talks to. The clock is stopped unless a test moves it.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_admin::Admin;
use carillon_engine::Engine;
use carillon_scheduler::{ManualClock, Millis};
use carillon_store::Store;
use carillon_testkit::{Answer, ApiClient};
use reqwest::{Method, StatusCode};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::services::{Kind, TestDatabase, on};

/// 2025-10-09T08:54:00.400Z: no whole second, so that "now" is no instant.
pub const NOW: Millis = 1_760_000_040_400;

pub struct Api {
    client: ApiClient,
    /// What executors present.
    pub access_token: String,
    pub store: Arc<Store>,
    /// Kept, or the node would stop answering.
    _engine: Arc<Engine>,
    raw: sea_orm::DatabaseConnection,
}

impl Deref for Api {
    type Target = ApiClient;

    fn deref(&self) -> &ApiClient {
        &self.client
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
        let client = ApiClient::new([format!("http://{}", admin.address())], &token, Duration::from_secs(20));
        let (_services, engine, store) = admin.serve_only().unwrap();
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        Self { client, access_token, store, _engine: engine, raw }
    }

    /// Host and port of the node.
    pub fn address(&self) -> &str {
        self.url().trim_start_matches("http://")
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
