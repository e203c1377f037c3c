//! pyxxl, a published Python client, as the protocol's README shows it: the lines that run here are taken from there.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use carillon_testkit::{Program, ProgramSettings, free_port};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::faults::api::Api;
use crate::program::settings;
use crate::services::setting;

const README: &str = include_str!("../../../../executor-sdk/protocol/README.md");
const APP: &str = "python-demo";

/// A handler that the README does not have: it does not end by itself.
const LONG: &str = r#"
@runner.register(name="long")
async def long():
    import asyncio
    g.logger.info("a long one")
    await asyncio.sleep(600)
"#;

/// The only Python block of the README.
fn ten_lines() -> &'static str {
    let (_, rest) = README.split_once("```python\n").unwrap();
    let (lines, rest) = rest.split_once("```").unwrap();
    assert!(!rest.contains("```python"));
    assert_eq!(lines.lines().count(), 10);
    lines
}

/// A node and a Python executor that is registered there.
struct Fixture {
    api: Api,
    // In the order in which they end.
    _python: Child,
    _node: Program,
    _folder: TempDir,
}

impl Fixture {
    async fn start(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = settings(&folder.path().join("data"));
        let node = setup.start().await;
        let api = Api::new(&node);
        api.create_app(APP).await;
        let python = python(folder.path(), program, &setup, &node);
        Self { api, _python: python, _node: node, _folder: folder }
    }

    /// Creates a job, which needs no executor yet.
    async fn create(&self, members: Value) -> i64 {
        let mut job = json!({"app": APP, "name": "a job", "handler": "hello"});
        let members = members.as_object().unwrap().clone();
        job.as_object_mut().unwrap().extend(members);
        self.api.post("jobs", job).await.ok()["id"].as_i64().unwrap()
    }

    /// Waits until a run of the job is as wanted.
    async fn run_of(&self, job: i64, wanted: impl Fn(&Value) -> bool) -> Value {
        let path = format!("runs?job_id={job}&limit=20");
        for _ in 0..600 {
            let last = self.api.get(&path).await.ok();
            let runs = last["items"].as_array().unwrap();
            if let Some(run) = runs.iter().find(|run| wanted(run)) {
                return run.clone();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("timed out waiting for the run: {:#}", self.api.get(&path).await.ok());
    }

    /// Waits until the log of a run holds a text.
    async fn log_with(&self, run: &Value, text: &str) -> Value {
        let path = format!("runs/{}/log", run["id"]);
        for _ in 0..200 {
            let page = self.api.get(&path).await.ok();
            if page["content"].as_str().unwrap().contains(text) {
                return page;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no {text:?} in the log: {:#}", self.api.get(&path).await.ok());
    }
}

/// Starts the lines, told all they need by the environment; what they write stays in the folder.
fn python(folder: &Path, program: &str, setup: &ProgramSettings, node: &Program) -> Child {
    let file = folder.join("executor.py");
    std::fs::write(&file, program).unwrap();
    let output = std::fs::File::create(folder.join("output")).unwrap();
    Command::new(setting("CARILLON_TEST_PYTHON"))
        .arg(file)
        .current_dir(folder)
        .env("CARILLON_ADMIN", node.url())
        .env("CARILLON_ACCESS_TOKEN", &setup.access_token)
        .env("EXECUTOR_LISTEN_PORT", free_port().to_string())
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

fn is(state: &str) -> impl Fn(&Value) -> bool {
    move |run| run["state"] == state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_lines_of_python_run_a_cron_job_and_their_log_can_be_read() {
    let fixture = Fixture::start(ten_lines()).await;
    let schedule = json!({"kind": "cron", "expression": "* * * * * *", "timezone": "Asia/Shanghai"});
    // The first seconds may find no executor: it takes Python a while to register.
    let job = fixture.create(json!({"schedule": schedule, "params": "fixture"})).await;
    let run = fixture.run_of(job, is("succeeded")).await;
    assert_eq!((&run["cause"], &run["message"]), (&json!("schedule"), &json!("said hello")));
    let page = fixture.log_with(&run, "hello, fixture").await;
    assert_eq!(page["from"], 1);
    let next = page["to"].as_i64().unwrap() + 1;
    let end = fixture.api.get(&format!("runs/{}/log?from={next}", run["id"])).await.ok();
    assert_eq!((&end["content"], &end["end"]), (&json!(""), &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_run_in_python_is_killed() {
    let (lines, last) = ten_lines().split_once("runner.run_executor").unwrap();
    let fixture = Fixture::start(&format!("{lines}{LONG}runner.run_executor{last}")).await;
    // Its first success says that Python is there.
    let every_second = json!({"kind": "fixed_rate", "seconds": 1});
    let first = fixture.create(json!({"schedule": every_second})).await;
    fixture.run_of(first, is("succeeded")).await;
    fixture.api.post(&format!("jobs/{first}/disable"), json!({})).await.ok();

    let job = fixture.create(json!({"handler": "long"})).await;
    fixture.api.post(&format!("jobs/{job}/run"), json!({})).await.ok();
    let run = fixture.run_of(job, is("running")).await;
    fixture.log_with(&run, "a long one").await;
    let asked = fixture.api.post(&format!("runs/{}/kill", run["id"]), json!({})).await.ok();
    assert_eq!(asked["outcome"], "asked");
    let killed = fixture.run_of(job, is("killed")).await;
    assert_eq!(killed["message"], "CancelledError");
}

// covers: 004-24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_python_does_not_have_fails_with_its_words() {
    let fixture = Fixture::start(ten_lines()).await;
    let every_second = json!({"kind": "fixed_rate", "seconds": 1});
    let job = fixture.create(json!({"handler": "nope", "schedule": every_second})).await;
    let said = |run: &Value| run["message"].as_str().unwrap().contains("handler nope not found");
    let run = fixture.run_of(job, said).await;
    assert_eq!(run["state"], "failed");
}
