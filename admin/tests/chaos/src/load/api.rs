//! The management API as a client uses it, through the wires, with every call written down.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::clock::{now, parse};
use crate::record::{Job, Outcome, Schedule};

/// What became of a request.
pub enum Reply {
    Ok(Value),
    /// Refused: nothing was changed.
    Fail(String),
    /// No answer, or one that does not say whether the change was made.
    Unclear(String),
}

impl Reply {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Ok(_) => Outcome::Ok,
            Self::Fail(_) => Outcome::Fail,
            Self::Unclear(_) => Outcome::Unclear,
        }
    }
}

/// A client with the management token.
#[derive(Clone)]
pub struct Api {
    http: reqwest::Client,
    roots: Vec<String>,
    token: String,
}

impl Api {
    pub fn new(roots: Vec<String>, token: &str, limit: Duration) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(limit)
            .connect_timeout(Duration::from_secs(1))
            .pool_idle_timeout(Duration::from_secs(1))
            .build()?;
        Ok(Self { http, roots, token: token.to_owned() })
    }

    /// The name of the node with this number (modulo their count).
    pub fn name(&self, node: usize) -> String {
        format!("a{}", node % self.roots.len() + 1)
    }

    /// One request to the node with this number (modulo their count).
    pub async fn ask(&self, node: usize, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let root = &self.roots[node % self.roots.len()];
        let mut request = self.http.request(method, format!("{root}/{path}")).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Reply::Fail(error.to_string()),
            Err(error) => return Reply::Unclear(error.to_string()),
        };
        let status = response.status();
        let answer: Option<Value> = response.json().await.ok();
        match answer {
            Some(answer) if status.is_success() => Reply::Ok(answer),
            Some(answer) if status.is_client_error() => Reply::Fail(answer.to_string()),
            // After a 5xx the transaction may have been committed all the same.
            answer => Reply::Unclear(format!("{status} {answer:?}")),
        }
    }

    /// The text of a page.
    pub async fn text(&self, node: usize, path: &str) -> Option<String> {
        let root = &self.roots[node % self.roots.len()];
        let asked = self.http.get(format!("{root}/{path}")).bearer_auth(&self.token).send();
        let answer = asked.await.ok()?.error_for_status().ok()?;
        answer.text().await.ok()
    }

    async fn must(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        match self.ask(0, Method::POST, path, Some(body)).await {
            Reply::Ok(value) => Ok(value),
            Reply::Fail(why) | Reply::Unclear(why) => anyhow::bail!("{path}: {why}"),
        }
    }

    pub async fn create_app(&self, name: &str) -> anyhow::Result<()> {
        self.must("api/v1/apps", &json!({"name": name, "title": name})).await?;
        Ok(())
    }

    /// All of them in one batch, while nothing is wrong yet.
    pub async fn create_jobs(&self, planned: Vec<super::Planned>) -> anyhow::Result<Vec<Job>> {
        let drafts: Vec<Value> = planned.iter().map(|job| job.draft.clone()).collect();
        let made = self.must("api/v1/jobs:batch", &Value::Array(drafts)).await?;
        let made = made["items"].as_array().cloned().unwrap_or_default();
        anyhow::ensure!(made.len() == planned.len(), "{} jobs were made", made.len());
        let jobs = planned.iter().zip(&made);
        Ok(jobs.map(|(planned, made)| job(planned, made)).collect())
    }
}

fn job(planned: &super::Planned, made: &Value) -> Job {
    let text = |member: &str| made[member].as_str().unwrap_or_default().to_owned();
    Job {
        id: made["id"].as_i64().unwrap_or_default(),
        name: text("name"),
        group: planned.group.to_owned(),
        app: text("app"),
        schedule: schedule(&planned.draft["schedule"], made),
        created_at: made["created_at"].as_str().and_then(parse).unwrap_or_default(),
        retries: made["retries"].as_i64().unwrap_or_default() as i32,
        catch_up: text("catch_up"),
        children: ids(&made["children"]),
    }
}

fn ids(list: &Value) -> Vec<i64> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_i64).collect()
}

/// The schedule in the oracle's words. A rate counts from the second in which its job was created.
pub fn schedule(wanted: &Value, made: &Value) -> Schedule {
    let created = made["created_at"].as_str().and_then(parse).unwrap_or_else(now);
    match wanted["kind"].as_str() {
        Some("fixed_rate") => {
            Schedule::Rate { seconds: wanted["seconds"].as_i64().unwrap_or(1), anchor: created.div_euclid(1000) * 1000 }
        }
        Some("cron") => Schedule::Cron { expression: wanted["expression"].as_str().unwrap_or_default().to_owned() },
        Some("once") => Schedule::Once { at: wanted["at"].as_str().and_then(parse).unwrap_or_default() },
        _ => Schedule::None,
    }
}
