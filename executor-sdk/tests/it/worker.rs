//! A running executor, and the requests of an admin to it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use carillon_executor::{Error, Executor, ExecutorBuilder, ExecutorHandle, JobContext, JobError, log};
use carillon_protocol::{RunRequest, headers, join_url};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use carillon_testkit::{LIMIT, StubAdmin};

pub const DUE_AT: i64 = 1_790_000_000_000;

/// Shared by the handlers and the test.
pub struct HandlerState {
    /// A run of `gate` ends for each permit that is added.
    pub gate: Arc<Semaphore>,
    /// Handler calls so far.
    pub started: Arc<AtomicU32>,
}

pub struct Worker {
    pub handle: ExecutorHandle,
    pub token: String,
    pub handlers: HandlerState,
    http: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<Result<(), Error>>>,
}

/// The answer to a request: its body, and the headers with the state of a repeated run, the boot id and the time of receipt.
pub struct Answer {
    pub body: Value,
    pub state: Option<String>,
    pub boot_id: Option<String>,
    pub received_at: Option<i64>,
}

impl Answer {
    pub fn code(&self) -> i64 {
        self.body["code"].as_i64().unwrap()
    }

    pub fn msg(&self) -> &str {
        self.body["msg"].as_str().unwrap_or_default()
    }
}

pub fn new_token() -> String {
    format!("{:032x}", rand::random::<u128>())
}

pub fn run(log_id: i64, handler: &str) -> RunRequest {
    RunRequest {
        job_id: 1,
        handler: handler.to_owned(),
        block_strategy: "SERIAL_EXECUTION".to_owned(),
        log_id,
        log_date_time: DUE_AT,
        glue_type: "BEAN".to_owned(),
        broadcast_total: 1,
        ..RunRequest::default()
    }
}

/// The handlers of all tests.
fn with_jobs(builder: ExecutorBuilder, handlers: &HandlerState) -> ExecutorBuilder {
    let (gate, started) = (Arc::clone(&handlers.gate), Arc::clone(&handlers.started));
    builder
        .job("ok", |_: JobContext| async { Ok(()) })
        .job("trace", |ctx: JobContext| async move { Ok(ctx.traceparent().unwrap_or("none").to_owned()) })
        .job("echo", |ctx: JobContext| async move { Ok(ctx.params().to_owned()) })
        .job("fail", |_: JobContext| async {
            let number: i32 = "x".parse()?;
            Ok(number.to_string())
        })
        .job("panic", |_: JobContext| async {
            panic_with("nothing is there");
            Ok(())
        })
        .job("gate", move |ctx: JobContext| {
            let (gate, started) = (Arc::clone(&gate), Arc::clone(&started));
            async move {
                started.fetch_add(1, Ordering::SeqCst);
                tokio::select! {
                    permit = gate.acquire() => permit?.forget(),
                    () = ctx.cancelled() => return Err(JobError::new("cancelled")),
                }
                Ok("through the gate")
            }
        })
        .job("lines", |ctx: JobContext| async move {
            let count: u32 = ctx.params().parse()?;
            (1..=count).for_each(|line| log!(ctx, "line {line}"));
            Ok(())
        })
}

fn panic_with(text: &str) {
    panic!("{text}");
}

impl Worker {
    pub async fn start(admin: &StubAdmin, data: &TempDir) -> Self {
        Self::with(admin, data.path(), &new_token(), |builder| builder).await
    }

    pub async fn with(
        admin: &StubAdmin,
        data: &Path,
        token: &str,
        settings: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    ) -> Self {
        let log = tracing_subscriber::fmt().with_env_filter("carillon_executor=debug");
        let _ = log.with_test_writer().try_init();
        let handlers = HandlerState { gate: Arc::new(Semaphore::new(0)), started: Arc::default() };
        let builder = Executor::builder().admin(&admin.address).app("tests").token(token).data_dir(data);
        let executor = with_jobs(settings(builder), &handlers).build().unwrap();
        let handle = executor.handle();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(executor.run(async { drop(stopped.await) }));
        tokio::time::timeout(LIMIT, handle.registered()).await.unwrap();
        Self {
            handle,
            token: token.to_owned(),
            handlers,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            stop: Some(stop),
            task: Some(task),
        }
    }

    pub async fn post(&self, path: &str, body: &Value, more: &[(&str, String)]) -> Answer {
        let url = join_url(self.handle.address(), path);
        let mut request = self.http.post(url).header(headers::TOKEN, &self.token).json(body);
        for (name, value) in more {
            request = request.header(*name, value);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "application/json");
        let header = |name| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (state, boot_id) = (header(headers::RUN_STATE), header(headers::BOOT_ID));
        let received_at = header(headers::RECEIVED_AT).map(|at| at.parse().unwrap());
        Answer { state, boot_id, received_at, body: answer.json().await.unwrap() }
    }

    pub async fn run(&self, request: &RunRequest) -> Answer {
        self.post("/run", &serde_json::to_value(request).unwrap(), &[]).await
    }

    /// Waits until `gate` was called `count` times.
    pub async fn started(&self, count: u32) {
        let reached = async {
            while self.handlers.started.load(Ordering::SeqCst) < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, reached).await.unwrap();
    }

    pub async fn is_idle(&self, job_id: i32) -> bool {
        self.post("/idleBeat", &json!({ "jobId": job_id }), &[]).await.code() == 200
    }

    /// Gives the signal to stop.
    pub fn signal(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits for the orderly end.
    pub async fn ended(mut self) {
        let task = self.task.take().unwrap();
        tokio::time::timeout(LIMIT, task).await.unwrap().unwrap().unwrap();
    }

    /// Drops the executor without a stop, as a crash would.
    pub async fn crash(mut self) {
        let task = self.task.take().unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
