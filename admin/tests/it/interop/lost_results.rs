//! Clients that report a result once: what becomes of it when the admin is away at that moment.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use carillon_testkit::{Program, ProgramSettings, free_port, http_client};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::faults::api::Api;
use crate::program::settings;
use crate::services::setting;

const APP: &str = "python-demo";
const JOBS: &str = include_str!("../../interop/clients/jobs.py");
const WORK: &str = include_str!("../../interop/clients/work.py");
const FLASK: &str = include_str!("../../interop/clients/flask.py");
const FASTAPI: &str = include_str!("../../interop/clients/fastapi.py");

/// A node that checks running runs after a second, and an executor.
struct Fixture {
    setup: ProgramSettings,
    api: Api,
    node: Program,
    job: i64,
    _executor: Child,
    folder: TempDir,
}

impl Fixture {
    async fn start(executor: impl FnOnce(&Path) -> Command, job: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = settings(&folder.path().join("data")).arg("--check-after=1s");
        let node = setup.start().await;
        let api = Api::new(&node);
        api.create_app(APP).await;
        let job = api.post("jobs", job).await.ok()["id"].as_i64().unwrap();
        let output = std::fs::File::create(folder.path().join("output")).unwrap();
        let executor = executor(folder.path())
            .current_dir(folder.path())
            .env("CARILLON_ADMIN", node.url())
            .env("CARILLON_ACCESS_TOKEN", &setup.access_token)
            .env("EXECUTOR_LISTEN_PORT", free_port().to_string())
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let fixture = Self { setup, api, node, job, _executor: executor, folder };
        fixture
            .until("the executor is registered", async || {
                let app = &fixture.api.get("apps").await.ok()["items"][0]["id"];
                let executors = fixture.api.get(&format!("apps/{app}/executors")).await.ok();
                !executors["items"].as_array().unwrap().is_empty()
            })
            .await;
        fixture
    }

    async fn until(&self, what: &str, condition: impl AsyncFn() -> bool) {
        for _ in 0..1_200 {
            if condition().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let output = std::fs::read_to_string(self.folder.path().join("output")).unwrap();
        panic!("timed out waiting for {what}\n{output}");
    }

    /// A run that has begun.
    async fn fire(&self) -> i64 {
        self.api.post(&format!("jobs/{}/run", self.job), json!({})).await.ok();
        let last = self.runs().await.remove(0);
        let run_id = last["id"].as_i64().unwrap();
        self.until("the run has begun", async || self.run(run_id).await["state"] == "running").await;
        run_id
    }

    /// The last one first.
    async fn runs(&self) -> Vec<Value> {
        let path = format!("runs?job_id={}", self.job);
        let mut runs = self.api.get(&path).await.ok()["items"].as_array().unwrap().clone();
        runs.sort_by_key(|run| -run["id"].as_i64().unwrap());
        runs
    }

    async fn run(&self, run_id: i64) -> Value {
        self.api.get(&format!("runs/{run_id}")).await.ok()
    }

    async fn ends(&self, run_id: i64, state: &str, text: &str) {
        self.until(&format!("run {run_id} is {state}"), async || self.run(run_id).await["state"] == state).await;
        let run = self.run(run_id).await;
        assert!(run["message"].as_str().unwrap().contains(text), "{run:#}");
    }

    /// The node is killed, and comes back after the executor has tried to report.
    async fn away_while_it_is_reported(mut self) -> Self {
        self.node.kill().await;
        std::fs::write(self.folder.path().join("go"), "").unwrap();
        let reported = self.folder.path().join("reported");
        for _ in 0..1_200 {
            if reported.exists() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(reported.exists());
        self.node = self.setup.start().await;
        self.api = Api::new(&self.node);
        self
    }
}

fn python(folder: &Path, program: &str) -> Command {
    std::fs::write(folder.join("jobs.py"), JOBS).unwrap();
    std::fs::write(folder.join("work.py"), WORK).unwrap();
    let file = folder.join("executor.py");
    std::fs::write(&file, program).unwrap();
    let mut command = Command::new(setting("CARILLON_TEST_PYTHON"));
    command.arg(file);
    command
}

fn go() -> Command {
    Command::new(setting("CARILLON_TEST_GO_EXECUTOR"))
}

fn job(handler: &str, block: &str) -> Value {
    json!({"app": APP, "name": "a job", "handler": handler, "block": block})
}

/// Its run is `running` at first, as the executor is busy, and ends as `unknown` when the result was lost.
async fn loses_a_result(executor: impl FnOnce(&Path) -> Command) {
    let fixture = Fixture::start(executor, job("wait", "serial")).await;
    let run_id = fixture.fire().await;
    fixture
        .until("it was checked, and goes on", async || {
            let checks = "carillon_run_checks_total{seen=\"at_work\"}";
            fixture.metrics().await.contains(checks)
        })
        .await;
    assert_eq!(fixture.run(run_id).await["state"], "running");
    let fixture = fixture.away_while_it_is_reported().await;
    fixture.ends(run_id, "unknown", "has no run of this job").await;
}

impl Fixture {
    async fn metrics(&self) -> String {
        let client = http_client(Duration::from_secs(10));
        let request = client.get(format!("{}/metrics", self.node.url())).bearer_auth(&self.setup.api_token);
        request.send().await.unwrap().text().await.unwrap()
    }
}

// covers: I12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_flask_xxljob_reports_once_is_missed_and_its_run_ends() {
    loses_a_result(|folder| python(folder, FLASK)).await;
}

// covers: I12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_fastapi_xxljob_reports_once_is_missed_and_its_run_ends() {
    loses_a_result(|folder| python(folder, FASTAPI)).await;
}

// covers: I12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_the_go_executor_reports_once_is_missed_and_its_run_ends() {
    loses_a_result(|_| go()).await;
}

// covers: I12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_the_go_executor_replaces_without_a_report_ends() {
    let fixture = Fixture::start(|_| go(), job("for-ever", "cover_early")).await;
    let (first, second) = (fixture.fire().await, fixture.fire().await);
    fixture.ends(first, "unknown", &format!("replaced by run {second}")).await;
    assert_eq!(fixture.run(second).await["state"], "running");
}
