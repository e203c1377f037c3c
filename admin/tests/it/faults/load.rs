//! A node under load: jobs that fire each second, and recording executors that report results.

use carillon_testkit::{AdminClient, Program, ProgramSettings, Receipt, RecordingExecutor, wait_for};
use serde_json::{Value, json};

use super::api::{Api, Job};

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

/// What a run's result is: every tenth fails.
pub fn result_of(run_id: i64) -> (i32, String) {
    let code = if run_id % 10 == 0 { 500 } else { 200 };
    (code, format!("the result of {run_id}"))
}

pub struct Load {
    pub api: Api,
    pub executors: Vec<RecordingExecutor>,
    pub jobs: Vec<Job>,
}

impl Load {
    pub async fn start(setup: &ProgramSettings, nodes: &[&Program], executors: usize, drafts: Vec<Value>) -> Self {
        let api = Api::new(nodes[0]);
        api.create_app(APP).await;
        let admin = AdminClient::new(nodes.iter().map(|node| node.url()), &setup.access_token);
        let mut started = Vec::new();
        for _ in 0..executors {
            let executor = RecordingExecutor::start().await;
            executor.forget_calls();
            executor.register(&admin, APP).await;
            executor.report(&admin, result_of);
            started.push(executor);
        }
        let jobs = api.create_jobs(drafts).await;
        Self { api, executors: started, jobs }
    }

    pub fn received(&self) -> usize {
        self.executors.iter().map(RecordingExecutor::run_count).sum()
    }

    pub fn receipts(&self) -> Vec<Receipt> {
        self.executors.iter().flat_map(RecordingExecutor::receipts).collect()
    }

    /// Waits until this many runs have reached the executors.
    pub async fn until_received(&self, count: usize) {
        wait_for(&format!("{count} runs received"), async || self.received() >= count).await;
    }
}
