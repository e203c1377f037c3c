//! A node and an executor that registers there.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use carillon_testkit::{ApiClient, Process, Program, ProgramSettings, free_port};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clients::Client;

pub const APP: &str = "interop-demo";
const POLL: Duration = Duration::from_millis(50);

pub struct Fixture {
    pub api: ApiClient,
    pub executor: Process,
    setup: ProgramSettings,
    node: Option<Program>,
    app: i64,
    _folder: TempDir,
}

impl Fixture {
    pub async fn start(client: &Client) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = ProgramSettings::new(env!("CARGO_BIN_EXE_carillon"), &folder.path().join("data"));
        let node = setup.start().await;
        let api = node.api();
        let app = api.post("/apps", json!({"name": APP})).await.ok()["id"].as_i64().unwrap();
        let executor = start_executor(client, folder.path(), &setup, &node);
        Self { api, executor, setup, node: Some(node), app, _folder: folder }
    }

    /// Those that are online.
    pub async fn executors(&self) -> Vec<Value> {
        let all = self.api.get(&format!("/apps/{}/executors", self.app)).await.ok();
        let all = all["items"].as_array().unwrap();
        all.iter().filter(|executor| executor["live"] == true).cloned().collect()
    }

    pub async fn job(&self, handler: &str, params: &str, more: Value) -> i64 {
        let mut job = json!({"app": APP, "name": handler, "handler": handler, "params": params});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.api.post("/jobs", job).await.ok()["id"].as_i64().unwrap()
    }

    /// Starts a run by hand; its id.
    pub async fn fire(&self, job: i64) -> i64 {
        let before = self.runs(job).await.len();
        self.api.post(&format!("/jobs/{job}/run"), json!({})).await.ok();
        let runs = self.until(10, async || Some(self.runs(job).await).filter(|runs| runs.len() > before)).await;
        runs.and_then(|runs| runs[0]["id"].as_i64()).expect("a run was made")
    }

    /// Newest first.
    async fn runs(&self, job: i64) -> Vec<Value> {
        self.api.get(&format!("/runs?job_id={job}&limit=20")).await.ok()["items"].as_array().unwrap().clone()
    }

    pub async fn run(&self, id: i64) -> Value {
        self.api.get(&format!("/runs/{id}")).await.ok()
    }

    /// The run once it is in one of these states, or as it is after that time.
    pub async fn run_in(&self, id: i64, states: &[&str], seconds: u64) -> Value {
        let reached = async || {
            let run = self.run(id).await;
            states.contains(&run["state"].as_str().unwrap()).then_some(run)
        };
        match self.until(seconds, reached).await {
            Some(run) => run,
            None => self.run(id).await,
        }
    }

    pub async fn until<T>(&self, seconds: u64, condition: impl AsyncFn() -> Option<T>) -> Option<T> {
        let end = Instant::now() + Duration::from_secs(seconds);
        loop {
            match condition().await {
                Some(found) => return Some(found),
                None if Instant::now() > end => return None,
                None => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Stops the node for that time and starts it again, on the same port.
    pub async fn restart_node(&mut self, away: Duration) {
        self.node.take().expect("it runs").kill().await;
        tokio::time::sleep(away).await;
        self.node = Some(self.setup.start().await);
    }
}

fn start_executor(client: &Client, folder: &Path, setup: &ProgramSettings, node: &Program) -> Process {
    let mut command = client.command(folder);
    command
        .current_dir(folder)
        .env("CARILLON_ADMIN", node.url())
        .env("CARILLON_ACCESS_TOKEN", &setup.access_token)
        .env("EXECUTOR_APP", APP)
        .env("EXECUTOR_LISTEN_PORT", free_port().to_string())
        .stdin(Stdio::null());
    Process::spawn(command)
}
