//! A node under load: jobs that fire each second, and executors that keep books.

use std::time::Duration;

use serde_json::{Value, json};

use super::api::{Api, Job};
use super::executor::{Executor, Receipt};
use super::process::{Carillon, Setup};

pub const APP: &str = "load";

/// A job of the load; `change` sets further members.
pub fn every_second(change: &Value) -> Value {
    let mut draft = json!({
        "app": APP, "name": "every second", "handler": "handle",
        "schedule": {"kind": "fixed_rate", "seconds": 1},
    });
    let members = change.as_object().unwrap().clone();
    draft.as_object_mut().unwrap().extend(members);
    draft
}

pub struct Load {
    pub api: Api,
    pub executors: Vec<Executor>,
    pub jobs: Vec<Job>,
}

impl Load {
    pub async fn start(setup: &Setup, nodes: &[&Carillon], executors: usize, drafts: Vec<Value>) -> Self {
        let api = Api::new(setup, nodes[0]);
        api.create_app(APP).await;
        let admins: Vec<String> = nodes.iter().map(|node| node.url()).collect();
        let mut started = Vec::new();
        for _ in 0..executors {
            started.push(Executor::start(&admins, &setup.access_token, APP).await);
        }
        let jobs = api.create_jobs(drafts).await;
        Self { api, executors: started, jobs }
    }

    pub fn received(&self) -> usize {
        self.executors.iter().map(Executor::count).sum()
    }

    pub fn receipts(&self) -> Vec<Receipt> {
        self.executors.iter().flat_map(Executor::receipts).collect()
    }

    /// Waits until so many runs have reached the executors.
    pub async fn until_received(&self, count: usize) {
        until(&format!("{count} runs received"), || self.received() >= count).await;
    }
}

/// Waits for a condition, at most a minute.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), waiting).await;
    assert!(waited.is_ok(), "timed out waiting for {what}");
}
