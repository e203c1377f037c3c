use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use carillon_protocol::{
    CallbackItem, Delivery, ItemResults, MapPage, MappedItem, Reduction, RunRequest, headers, join_url,
    parse_callbacks, parse_items,
};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::api_client::http_client;
use crate::http_stub::{Call, HttpStub, Reply};
use crate::wait::LIMIT;

/// An admin that schedules nothing: it records heartbeats and results, and sends the runs that a test asks for.
pub struct StubAdmin {
    /// What an executor is given as its admin.
    pub address: String,
    stub: HttpStub,
    last_run: AtomicI64,
}

impl StubAdmin {
    /// Accepts everything.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stub = HttpStub::start(listener, |_, _| true);
        Self { address: stub.address.clone(), stub, last_run: AtomicI64::new(0) }
    }

    /// How heartbeats and results are answered.
    pub fn reply(&self, reply: Reply) {
        self.stub.reply(reply);
    }

    /// How requests with this path are answered, if not as the rest: `/api/map` (items of a run), `/api/map/results` (results of items)
    /// and others.
    pub fn reply_to(&self, path: &str, reply: Reply) {
        self.stub.reply_to(path, reply);
    }

    /// The items that a reduce run reads, with their results, and how many the admin answers at once.
    pub fn reply_with_items(&self, items: Vec<MappedItem>, page: usize) {
        self.stub.reply_with_items(items, page);
    }

    /// How results are answered, if not as the rest.
    pub fn reply_to_results(&self, reply: Reply) {
        self.stub.reply_to("/api/callback", reply);
    }

    /// How each list is answered that has a result of this run.
    pub fn reply_to_result_of(&self, run_id: i64, reply: Reply) {
        self.stub.reply_to_result_of(run_id, reply);
    }

    /// Asks an executor to run something; returns the run's id.
    ///
    /// # Panics
    /// The executor refuses it.
    pub async fn run(&self, executor: &str, token: &str, handler: &str, params: &str) -> i64 {
        self.start_run(executor, token, handler, params, None).await
    }

    /// Delivers items of a run to an executor; returns the id of the delivery's run.
    ///
    /// # Panics
    /// The executor refuses it.
    pub async fn deliver(&self, executor: &str, token: &str, handler: &str, delivery: &Delivery) -> i64 {
        let params = serde_json::to_string(delivery).unwrap();
        self.start_run(executor, token, handler, &params, Some(headers::PHASE_ITEMS)).await
    }

    /// Starts the run that reads the results of items; returns its id.
    ///
    /// # Panics
    /// The executor refuses it.
    pub async fn reduce(&self, executor: &str, token: &str, handler: &str, reduction: Reduction) -> i64 {
        let params = serde_json::to_string(&reduction).unwrap();
        self.start_run(executor, token, handler, &params, Some(headers::PHASE_REDUCE)).await
    }

    async fn start_run(
        &self,
        executor: &str,
        token: &str,
        handler: &str,
        params: &str,
        phase: Option<&'static str>,
    ) -> i64 {
        let run_id = self.last_run.fetch_add(1, Ordering::Relaxed) + 1;
        let request = RunRequest {
            job_id: 1,
            handler: handler.to_owned(),
            params: params.to_owned(),
            block_strategy: "SERIAL_EXECUTION".to_owned(),
            log_id: run_id,
            glue_type: "BEAN".to_owned(),
            broadcast_total: 1,
            ..RunRequest::default()
        };
        let call = http_client(Duration::from_secs(10)).post(join_url(executor, "/run")).json(&request);
        let call = phase.into_iter().fold(call, |call, phase| call.header(headers::PHASE, phase));
        let answer = call.header(headers::TOKEN, token).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["code"], 200, "{answer}");
        run_id
    }

    /// All requests so far.
    pub fn calls(&self) -> Vec<Call> {
        self.stub.calls.borrow().clone()
    }

    /// Waits until the recorded requests fulfil a condition.
    ///
    /// # Panics
    /// They do not within [`LIMIT`].
    pub async fn wait_for(&self, what: &str, condition: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        let mut calls = self.stub.calls.subscribe();
        let seen = tokio::time::timeout(LIMIT, calls.wait_for(|calls| condition(calls))).await;
        seen.unwrap_or_else(|_| panic!("timed out waiting for {what}: {:#?}", self.calls())).unwrap().clone()
    }

    /// Waits for the first result of a run.
    ///
    /// # Panics
    /// None comes within [`LIMIT`].
    pub async fn result(&self, run_id: i64) -> CallbackItem {
        let find = |calls: &[Call]| results(calls).into_iter().find(|item| item.log_id == run_id);
        let calls = self.wait_for(&format!("the result of run {run_id}"), |calls| find(calls).is_some()).await;
        find(&calls).unwrap()
    }

    /// All results so far.
    pub fn results(&self) -> Vec<CallbackItem> {
        results(&self.stub.calls.borrow())
    }
}

/// The results of all callbacks, in order.
///
/// # Panics
/// A callback cannot be parsed.
pub fn results(calls: &[Call]) -> Vec<CallbackItem> {
    let callbacks = calls.iter().filter(|call| call.path == "/api/callback");
    callbacks.flat_map(|call| parse_callbacks(call.body.as_bytes()).unwrap().items).collect()
}

/// The pages of items that were handed in, in order, with those that were sent again.
///
/// # Panics
/// A page cannot be parsed.
pub fn map_pages(calls: &[Call]) -> Vec<MapPage> {
    let pages = calls.iter().filter(|call| call.path == "/api/map");
    pages.map(|call| parse_items(call.body.as_bytes()).unwrap()).collect()
}

/// The reports of results of items, in order, with those that were sent again.
///
/// # Panics
/// A report cannot be parsed.
pub fn item_results(calls: &[Call]) -> Vec<ItemResults> {
    let reports = calls.iter().filter(|call| call.path == "/api/map/results");
    reports.map(|call| parse_items(call.body.as_bytes()).unwrap()).collect()
}
