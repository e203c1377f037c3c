//! The management API as a client uses it, through the wires, with every call written down.

use std::time::Duration;

use carillon_testkit::{Answer, ApiClient};
use reqwest::{Method, RequestBuilder};
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
    client: ApiClient,
    nodes: usize,
}

impl Api {
    pub fn new(roots: Vec<String>, token: &str, limit: Duration) -> Self {
        Self { nodes: roots.len(), client: ApiClient::new(roots, token, limit) }
    }

    /// The name of the node with this number (modulo their count).
    pub fn name(&self, node: usize) -> String {
        format!("a{}", node % self.nodes + 1)
    }

    /// One request to the node with this number (modulo their count).
    pub async fn ask(&self, node: usize, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let mut request = self.client.at_node(node, method, path).bearer_auth(&self.client.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.reply_to(request).await
    }

    /// A request that counts once, however often it is sent with this key.
    pub async fn ask_once(&self, node: usize, method: Method, path: &str, body: &Value, key: &str) -> Reply {
        let request = self.client.at_node(node, method, path).bearer_auth(&self.client.token);
        self.reply_to(request.json(body).header("Idempotency-Key", key)).await
    }

    async fn reply_to(&self, request: RequestBuilder) -> Reply {
        match self.client.try_send(request).await {
            Err(error) if error.is_connect() => Reply::Fail(error.to_string()),
            Err(error) => Reply::Unclear(error.to_string()),
            Ok(Answer { json: text @ (Value::Null | Value::String(_)), status, .. }) => {
                Reply::Unclear(format!("{status} {text}"))
            }
            Ok(Answer { json, status, .. }) if status.is_success() => Reply::Ok(json),
            Ok(Answer { json, status, .. }) if status.is_client_error() => Reply::Fail(json.to_string()),
            // After a 5xx the transaction may have been committed all the same.
            Ok(Answer { json, status, .. }) => Reply::Unclear(format!("{status} {json}")),
        }
    }

    /// The text of a page.
    pub async fn text(&self, node: usize, path: &str) -> Option<String> {
        let request = self.client.at_node(node, Method::GET, path).bearer_auth(&self.client.token);
        let answer = self.client.try_send(request).await.ok()?;
        answer.status.is_success().then(|| answer.json.as_str().map(str::to_owned))?
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

    /// A calendar whose days are far in the future: no change of it excludes an instant of this run.
    pub async fn create_calendar(&self, name: &str) -> anyhow::Result<()> {
        self.must("api/v1/calendars", &json!({"name": name, "days": ["2099-12-25"]})).await?;
        Ok(())
    }

    /// A limit that the jobs of all apps may name.
    pub async fn create_limit(&self, name: &str, max: i64) -> anyhow::Result<()> {
        self.must("api/v1/limits", &json!({"name": name, "max": max})).await?;
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
    // Nothing is recorded of a loop's instants, so none is expected.
    let schedule = match planned.draft["durability"] == "best_effort" {
        true => Schedule::None,
        false => schedule(&planned.draft["schedule"], made),
    };
    Job {
        id: made["id"].as_i64().unwrap_or_default(),
        name: text("name"),
        group: planned.group.to_owned(),
        app: text("app"),
        schedule,
        created_at: made["created_at"].as_str().and_then(parse).unwrap_or_default(),
        retries: made["retries"].as_i64().unwrap_or_default() as i32,
        catch_up: text("catch_up"),
        draft: planned.draft.clone(),
        children: ids(&made["children"]),
    }
}

fn ids(list: &Value) -> Vec<i64> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_i64).collect()
}

/// The schedule in the oracle's words. A rate counts from the second that the server chose when it read the request, which may be the one
/// before that of the job's creation.
pub fn schedule(wanted: &Value, made: &Value) -> Schedule {
    let anchor = made["schedule"]["anchor_at"].as_str().or(made["created_at"].as_str());
    let anchor = anchor.and_then(parse).unwrap_or_else(now);
    match wanted["kind"].as_str() {
        Some("fixed_rate") => {
            Schedule::Rate { seconds: wanted["seconds"].as_i64().unwrap_or(1), anchor: anchor.div_euclid(1000) * 1000 }
        }
        Some("cron") => Schedule::Cron { expression: wanted["expression"].as_str().unwrap_or_default().to_owned() },
        Some("once") => Schedule::Once { at: wanted["at"].as_str().and_then(parse).unwrap_or_default() },
        _ => Schedule::None,
    }
}
