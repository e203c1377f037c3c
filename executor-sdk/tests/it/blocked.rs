//! Handlers that block every thread of the runtime that they share.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use carillon_executor::{Executor, ExecutorHandle, JobContext};
use carillon_protocol::{RunRequest, headers, join_url};
use carillon_testkit::{Call, Reply, StubAdmin, results};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};

use crate::worker::{DUE_AT, new_token, run};

/// An executor whose handlers share a runtime with one thread.
struct Blockable {
    handle: ExecutorHandle,
    token: String,
    /// Notified when the handler `block` blocks.
    blocks: Arc<Notify>,
    unblock: mpsc::Sender<()>,
    stop: oneshot::Sender<()>,
    ended: std::thread::JoinHandle<()>,
}

impl Blockable {
    fn start(admin: &StubAdmin, data: &TempDir) -> Self {
        let (token, blocks) = (new_token(), Arc::new(Notify::new()));
        let (unblock, unblocked) = mpsc::channel::<()>();
        let (notify, unblocked) = (Arc::clone(&blocks), Arc::new(Mutex::new(unblocked)));
        let executor = Executor::builder()
            .admin(&admin.address)
            .app("tests")
            .token(&token)
            .data_dir(data.path())
            .grace(Duration::ZERO)
            .job("ok", |_: JobContext| async { Ok(()) })
            .job("block", move |_: JobContext| {
                let (blocks, unblocked) = (Arc::clone(&notify), Arc::clone(&unblocked));
                async move {
                    blocks.notify_one();
                    unblocked.lock().unwrap().recv()?;
                    Ok(())
                }
            })
            .build()
            .unwrap();
        let handle = executor.handle();
        let (stop, stopped) = oneshot::channel();
        let ended = std::thread::spawn(move || {
            let one_thread = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            one_thread.unwrap().block_on(executor.run(async { drop(stopped.await) })).unwrap();
        });
        Self { handle, token, blocks, unblock, stop, ended }
    }

    /// The answer's code, and the state of the run.
    async fn post(&self, path: &str, body: &Value) -> (i64, Option<String>) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let call = client.post(join_url(self.handle.address(), path)).header(headers::TOKEN, &self.token).json(body);
        let answer = call.send().await.unwrap();
        let state = answer.headers().get(headers::RUN_STATE).map(|state| state.to_str().unwrap().to_owned());
        let body: Value = answer.json().await.unwrap();
        (body["code"].as_i64().unwrap(), state)
    }

    async fn run(&self, log_id: i64, handler: &str) {
        let request = RunRequest { job_id: i32::try_from(log_id).unwrap(), ..run(log_id, handler) };
        assert_eq!(self.post("/run", &serde_json::to_value(request).unwrap()).await, (200, None));
    }
}

fn count(calls: &[Call], path: &str) -> usize {
    calls.iter().filter(|call| call.path == path).count()
}

// covers: G6
#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_results_and_the_stop_go_on_while_handlers_block_their_runtime() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    // What is refused is repeated after a second or two.
    admin.reply(Reply::refused("not now"));
    let executor = Blockable::start(&admin, &data);
    executor.run(1, "ok").await;
    admin.result(1).await;
    executor.run(2, "block").await;
    tokio::time::timeout(carillon_testkit::LIMIT, executor.blocks.notified()).await.unwrap();

    let before = admin.calls();
    for path in ["/api/registry", "/api/callback"] {
        let more = |calls: &[Call]| count(calls, path) > count(&before, path);
        admin.wait_for(path, more).await;
    }
    admin.reply(Reply::Accept);
    tokio::time::timeout(carillon_testkit::LIMIT, executor.handle.registered()).await.unwrap();
    executor.run(3, "ok").await;
    let log = json!({"logId": 3, "logDateTim": DUE_AT, "fromLineNum": 1});
    assert_eq!(executor.post("/log", &log).await.1.as_deref(), Some("queued"));

    executor.stop.send(()).unwrap();
    let both = |calls: &[Call]| {
        let items = results(calls);
        [2, 3].iter().all(|id| items.iter().any(|item| item.log_id == *id))
    };
    let calls = admin.wait_for("the results of the stop", both).await;
    assert_eq!(count(&calls, "/api/registryRemove"), 1);
    for item in results(&calls).iter().filter(|item| item.log_id != 1) {
        assert!(item.message.as_ref().unwrap().starts_with("interrupted: the executor is stopping"), "{item:?}");
    }
    executor.unblock.send(()).unwrap();
    tokio::task::spawn_blocking(move || executor.ended.join().unwrap()).await.unwrap();
}
