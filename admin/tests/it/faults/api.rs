//! The management API as a client uses it, over HTTP.

use std::ops::Deref;
use std::time::Duration;

use carillon_scheduler::Millis;
use carillon_testkit::{ApiClient, Program, now_ms};
use chrono::{DateTime, Utc};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};

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

/// A client with types for jobs and runs.
#[derive(Clone)]
pub struct Api(ApiClient);

impl Deref for Api {
    type Target = ApiClient;

    fn deref(&self) -> &ApiClient {
        &self.0
    }
}

impl Api {
    pub fn new(node: &Program) -> Self {
        Self(node.api())
    }

    pub async fn create_app(&self, name: &str) {
        self.post("apps", json!({"name": name, "title": name})).await.ok();
    }

    /// All of them in one batch.
    pub async fn create_jobs(&self, drafts: Vec<Value>) -> Vec<Job> {
        let mut made = self.post("jobs:batch", Value::Array(drafts)).await.ok();
        serde_json::from_value(made["items"].take()).unwrap()
    }

    pub async fn runs(&self, filter: &str) -> Vec<Run> {
        self.pages("runs", filter).await
    }

    pub async fn misfires(&self) -> Vec<Misfire> {
        self.pages("misfires", "").await
    }

    /// Returns the moment up to which the schedules of all of them were certainly in force.
    pub async fn disable(&self, jobs: &[Job]) -> Millis {
        let until = now_ms();
        let each = jobs.iter().map(|job| format!("jobs/{}/disable", job.id));
        let calls = each.map(|path| async move { self.post(&path, json!({})).await.ok() });
        stream::iter(calls).buffer_unordered(4).for_each(|_| async {}).await;
        until
    }

    /// All runs, once none of them is open any more, but for those whose outcome is unknown.
    pub async fn runs_at_the_end(&self, within: Duration) -> Vec<Run> {
        let waiting = async {
            while !self.get(OPEN).await.column("id").is_empty() {
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
