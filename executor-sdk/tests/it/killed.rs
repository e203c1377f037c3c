//! `kill -9` of a real process: this test binary starts itself again as the worker.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use carillon_executor::{Executor, JobContext};
use carillon_protocol::{RunRequest, headers, join_url};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::{DUE_AT, new_token, run};
use carillon_testkit::{Call, LIMIT, Reply, StubAdmin, results};

const ADMIN: &str = "WORKER_ADMIN";
const TOKEN: &str = "WORKER_TOKEN";
const FOLDER: &str = "WORKER_FOLDER";

/// The worker, if this process was started as one; it runs until it is killed.
#[test]
fn worker_process() {
    let Ok(admin) = std::env::var(ADMIN) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let executor = Executor::builder()
            .admin(admin)
            .app("tests")
            .token(std::env::var(TOKEN).unwrap())
            .data_dir(std::env::var(FOLDER).unwrap())
            .job("ok", |_: JobContext| async { Ok("done") })
            .job("hang", |_: JobContext| async {
                std::future::pending::<()>().await;
                Ok(())
            })
            .build()
            .unwrap();
        executor.run(std::future::pending::<()>()).await.unwrap();
    });
}

/// The worker's process and its address.
struct WorkerProcess {
    child: Child,
    address: String,
    boot_id: String,
    token: String,
}

impl WorkerProcess {
    async fn start(admin: &StubAdmin, folder: &Path, token: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::worker_process"])
            .env(ADMIN, &admin.address)
            .env(TOKEN, token)
            .env(FOLDER, folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let beat = |calls: &[Call]| {
            let found = calls.iter().find(|call| call.path == "/api/registry");
            found.cloned()
        };
        let calls = admin.wait_for("its first heartbeat", |calls| beat(calls).is_some()).await;
        let beat = beat(&calls).unwrap();
        let body: Value = serde_json::from_str(&beat.body).unwrap();
        Self {
            child,
            address: body["registryValue"].as_str().unwrap().to_owned(),
            boot_id: beat.header("carillon-boot-id").unwrap().to_owned(),
            token: token.to_owned(),
        }
    }

    /// The body's code, and the state of the run.
    async fn post(&self, path: &str, body: &Value) -> (i64, Option<String>) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let call = client.post(join_url(&self.address, path)).header(headers::TOKEN, &self.token).json(body);
        let answer = call.send().await.unwrap();
        let state = answer.headers().get(headers::RUN_STATE);
        let state = state.map(|state| state.to_str().unwrap().to_owned());
        let body: Value = answer.json().await.unwrap();
        (body["code"].as_i64().unwrap(), state)
    }

    async fn run(&self, request: &RunRequest) -> (i64, Option<String>) {
        self.post("/run", &serde_json::to_value(request).unwrap()).await
    }

    async fn state_by_log(&self, log_id: i64) -> Option<String> {
        let body = json!({"logId": log_id, "logDateTim": DUE_AT, "fromLineNum": 1});
        self.post("/log", &body).await.1
    }

    /// SIGKILL.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

// covers: H12
#[tokio::test(flavor = "multi_thread")]
async fn run_ids_and_results_survive_kill_9() {
    let (admin, data, token) = (StubAdmin::start().await, TempDir::new().unwrap(), new_token());
    admin.reply_to_results(Reply::Cut);
    let worker = WorkerProcess::start(&admin, data.path(), &token).await;
    let boot_id = worker.boot_id.clone();
    assert_eq!(worker.run(&run(1, "ok")).await, (200, None));
    admin.result(1).await;
    let second = RunRequest { job_id: 2, ..run(2, "hang") };
    assert_eq!(worker.run(&second).await, (200, None));
    let waiting = RunRequest { log_id: 3, ..second.clone() };
    assert_eq!(worker.run(&waiting).await, (200, None));
    running(&worker, 2).await;
    assert_eq!(worker.state_by_log(3).await.as_deref(), Some("queued"));
    assert_eq!(worker.state_by_log(4).await, None, "an unknown run");
    worker.kill();

    let after = StubAdmin::start().await;
    let worker = WorkerProcess::start(&after, data.path(), &token).await;
    assert_ne!(worker.boot_id, boot_id);
    let calls = after.wait_for("three results", |calls| results(calls).len() >= 3).await;
    let callback = calls.iter().find(|call| call.path == "/api/callback");
    assert_eq!(callback.unwrap().header("carillon-boot-id").unwrap(), worker.boot_id);
    for (item, (log_id, code, text)) in results(&calls).iter().zip([
        (1, 200, "done"),
        (2, 500, "interrupted: the executor was restarted before the run ended"),
        (3, 500, "interrupted: the executor was restarted before the run ended"),
    ]) {
        assert_eq!((item.log_id, item.code, item.message.as_deref()), (log_id, code, Some(text)));
    }
    for request in [&run(1, "ok"), &second, &waiting] {
        let again = worker.run(request).await;
        assert_eq!(again, (200, Some("finished".to_owned())), "nothing runs twice");
    }
    assert_eq!(worker.state_by_log(2).await.as_deref(), Some("finished"));
}

async fn running(worker: &WorkerProcess, log_id: i64) {
    let begun = async {
        while worker.state_by_log(log_id).await.as_deref() != Some("running") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, begun).await.unwrap();
}
