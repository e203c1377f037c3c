//! The management API as a client uses it, over HTTP.

use std::time::Duration;

use carillon_scheduler::{Clock as _, Millis, SystemClock};
use chrono::{DateTime, Utc};
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::process::{Carillon, Setup};

#[derive(Clone, Debug, Deserialize)]
pub struct Job {
    pub id: i64,
    pub catch_up: String,
    pub misfire: String,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    pub id: i64,
    pub job_id: i64,
    pub cause: String,
    pub state: String,
    pub scheduled_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    pub attempt: i32,
    pub message: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Misfire {
    pub job_id: i64,
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    pub count: i64,
    pub reason: String,
}

/// The time that the program goes by.
pub fn now() -> Millis {
    SystemClock::new().now()
}

/// An HTTP client whose requests take at most so long.
pub fn client(limit: Duration) -> reqwest::Client {
    // Which crypto is used is said once in a process; a later test finds it said.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(limit);
    client.build().unwrap()
}

/// A client with the management token.
#[derive(Clone)]
pub struct Api {
    http: reqwest::Client,
    root: String,
    token: String,
}

impl Api {
    pub fn new(setup: &Setup, node: &Carillon) -> Self {
        Self {
            http: client(Duration::from_secs(30)),
            root: format!("{}/api/v1", node.url()),
            token: setup.api_token.clone(),
        }
    }

    /// The answer, which must be a success.
    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let mut request = self.http.request(method, format!("{}/{path}", self.root)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        let answer: Value = response.json().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    pub async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Value {
        self.ask(Method::POST, path, Some(body)).await
    }

    pub async fn create_app(&self, name: &str) {
        self.post("apps", &json!({"name": name, "title": name})).await;
    }

    /// All of them in one batch.
    pub async fn create_jobs(&self, drafts: Vec<Value>) -> Vec<Job> {
        let mut made = self.post("jobs:batch", &Value::Array(drafts)).await;
        serde_json::from_value(made["items"].take()).unwrap()
    }

    pub async fn runs(&self, filter: &str) -> Vec<Run> {
        self.pages("runs", filter).await
    }

    pub async fn misfires(&self) -> Vec<Misfire> {
        self.pages("misfires", "").await
    }

    async fn pages<T: serde::de::DeserializeOwned>(&self, list: &str, filter: &str) -> Vec<T> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let mut page = self.get(&format!("{list}?limit=1000&{filter}{after}")).await;
            let items: Vec<T> = serde_json::from_value(page["items"].take()).unwrap();
            all.extend(items);
            after = match &page["next"] {
                Value::Null => return all,
                Value::String(next) => format!("&after={next}"),
                next => format!("&after={next}"),
            };
        }
    }

    /// Answers the moment up to which the schedules of all of them were certainly in force.
    pub async fn disable(&self, jobs: &[Job]) -> Millis {
        let until = now();
        let each = jobs.iter().map(|job| format!("jobs/{}/disable", job.id));
        let calls = each.map(|path| async move { self.post(&path, &json!({})).await });
        stream::iter(calls).buffer_unordered(4).for_each(|_| async {}).await;
        until
    }

    /// All runs, once none of them is open any more, but for those whose outcome is unknown.
    pub async fn runs_at_the_end(&self, within: Duration) -> Vec<Run> {
        let waiting = async {
            while !self.get(OPEN).await["items"].as_array().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        if tokio::time::timeout(within, waiting).await.is_err() {
            panic!("still open after {within:?}: {:#?}", self.get(OPEN).await);
        }
        self.runs("").await
    }
}

const OPEN: &str = "runs?limit=3&state=claimed,sending,running";
