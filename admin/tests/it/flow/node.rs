//! One node whose services are stepped and whose clock stands until the test turns it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use carillon_admin::{Admin, config::Config};
use carillon_engine::manage::RunRequest;
use carillon_engine::runtime::{Service, Step};
use carillon_engine::{DispatchReport, Engine, LeaseReport, ScanReport, Services};
use carillon_scheduler::{Cause, Clock, JobDraft, ManualClock, Millis, RunState, ScheduleDraft};
use carillon_store::{App, Definition, DefinitionContext, Job, Misfire, MisfireFilter, RunFilter, RunView, Store};
use carillon_testkit::{RecordingExecutor, wait_for};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::conformance::fixture::actor;
use crate::services::{Kind, TestDatabase, runtime};

/// A whole second.
pub const START: Millis = 1_760_000_000_000;

/// A test of one node.
pub fn on_node(test: impl AsyncFnOnce(&Node)) {
    runtime().block_on(async { test(&Node::start().await).await });
}

/// As [`on_node`], with an executor that is not registered yet.
pub fn with_executor(test: impl AsyncFnOnce(&Node, &RecordingExecutor)) {
    on_node(async |node| test(node, &RecordingExecutor::start().await).await);
}

pub fn with_registered_executor(test: impl AsyncFnOnce(&Node, &RecordingExecutor)) {
    with_executor(async |node, executor| {
        node.register(executor).await;
        test(node, executor).await;
    });
}

pub struct Node {
    pub clock: Arc<ManualClock>,
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub services: Services,
    pub config: Config,
    pub url: String,
    pub app: App,
    /// Making one reads the machine's certificates, which takes longer than a callback may wait.
    pub http: reqwest::Client,
    _database: Option<TestDatabase>,
}

impl Node {
    /// A node on an empty SQLite file, with the app `orders`.
    pub async fn start() -> Self {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.shards = Some(2);
        let mut node = Self::on(config, Arc::new(ManualClock::new(START))).await;
        node._database = Some(database);
        node
    }

    /// A node on this database, which has this number of shards.
    pub async fn with_shards(db: &TestDatabase, shards: i32) -> Self {
        let mut config = db.config();
        config.shards = Some(shards);
        Self::on(config, Arc::new(ManualClock::new(START))).await
    }

    pub async fn on(config: Config, clock: Arc<ManualClock>) -> Self {
        Self::under(config, clock.clone(), clock).await
    }

    /// One that reads its time from `seen`, which goes by `clock`.
    pub async fn under(config: Config, clock: Arc<ManualClock>, seen: Arc<dyn Clock>) -> Self {
        let admin = Admin::build(config.clone(), seen).await.unwrap();
        let url = format!("http://{}", admin.address());
        let (services, engine, store) = admin.serve_only().unwrap();
        let app = match store.apps().by_name("orders").await.unwrap() {
            Some(app) => app,
            None => store.apps().create("orders", "Orders", clock.now(), &actor()).await.unwrap(),
        };
        // A connection for each request: the node closes those that idle, which a test on a busy machine may do.
        let http = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
        Self { clock, store, engine, services, config, url, app, http, _database: None }
    }

    pub async fn job(&self, change: impl FnOnce(&mut JobDraft)) -> Job {
        let mut draft = JobDraft::new("orders", "job", "handle");
        change(&mut draft);
        let definition = Definition::check(&self.app, &draft, self.clock.now()).unwrap();
        let created = self.store.jobs().create(vec![definition], self.clock.now(), &actor(), None).await;
        created.unwrap().remove(0)
    }

    pub async fn every(&self, seconds: i64, change: impl FnOnce(&mut JobDraft)) -> Job {
        self.job(|draft| {
            draft.schedule = ScheduleDraft::fixed_rate(seconds);
            change(draft);
        })
        .await
    }

    /// Creates `count` equal jobs.
    pub async fn create_jobs(&self, count: usize, change: impl FnOnce(&mut JobDraft)) -> Vec<Job> {
        let mut draft = JobDraft::new("orders", "job", "handle");
        change(&mut draft);
        let now = self.clock.now();
        let definition = Definition::check(&self.app, &draft, now).unwrap();
        let definitions = vec![definition; count];
        let by = actor();
        let created = self.store.jobs().create(definitions, now, &by, None).await;
        created.unwrap()
    }

    /// Another definition for a job.
    pub async fn edit(&self, job: &Job, draft: JobDraft) -> Job {
        let now = self.clock.now();
        let definition = Definition::check_in(DefinitionContext::of(&self.app, job, &job.calendars), &draft, now);
        let definition = definition.unwrap();
        let by = actor();
        let edit = self.store.jobs().update(job.id, &definition, None, now, &by);
        let job = edit.await.unwrap();
        self.engine.job_changed(job.shard);
        job
    }

    /// Behind the program's back.
    pub async fn sql(&self, text: &str) {
        let url = self._database.as_ref().unwrap().direct_url();
        let database = sea_orm::Database::connect(url).await.unwrap();
        database.execute_unprepared(text).await.unwrap();
    }

    /// A heartbeat over HTTP, as executors send it.
    pub async fn register(&self, recorder: &RecordingExecutor) {
        self.register_address(&recorder.address, None).await;
    }

    /// The heartbeat of an executor that keeps a journal, as our SDK sends it.
    pub async fn register_own(&self, recorder: &RecordingExecutor, boot_id: &str) {
        self.register_address(&recorder.address, Some(boot_id)).await;
    }

    /// The heartbeat of an executor that takes several runs in one request.
    pub async fn register_batching(&self, recorder: &RecordingExecutor) {
        let headers = [("Carillon-Boot-Id", "boot"), ("Carillon-Capabilities", "idem,batch")];
        self.register_with(&recorder.address, &headers).await;
    }

    pub async fn register_address(&self, address: &str, boot_id: Option<&str>) {
        let own = boot_id.map(|boot_id| [("Carillon-Boot-Id", boot_id), ("Carillon-Capabilities", "idem")]);
        self.register_with(address, own.as_ref().map_or(&[][..], |headers| headers)).await;
    }

    async fn register_with(&self, address: &str, headers: &[(&str, &str)]) {
        self.register_of("orders", address, headers).await;
    }

    /// The heartbeat of an executor of this app.
    pub async fn register_of(&self, app: &str, address: &str, headers: &[(&str, &str)]) {
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address});
        let answer = self.post_with("api/registry", headers, &body).await;
        assert_eq!(answer["code"], 200, "{answer}");
        self.services.refresher.step().await;
    }

    pub async fn post(&self, path: &str, body: &Value) -> Value {
        self.post_with(path, &[], body).await
    }

    pub async fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Value {
        // A client of its own: the one of before may keep a connection that the server has cut.
        let client = reqwest::Client::new();
        let mut call =
            client.post(format!("{}/{path}", self.url)).header("XXL-JOB-ACCESS-TOKEN", &self.config.access_token);
        for (name, value) in headers {
            call = call.header(*name, *value);
        }
        call.json(body).send().await.unwrap().json().await.unwrap()
    }

    /// A result over HTTP; its answer comes when a step of `complete` has committed it.
    pub async fn callback(&self, results: &[(i64, i32, &str)]) -> Value {
        let items: Vec<Value> = results
            .iter()
            .map(|(id, code, text)| json!({"logId": id, "logDateTim": 1, "handleCode": code, "handleMsg": text}))
            .collect();
        let body = json!(items);
        let boot_id = self.boot_id_of(results.first().map_or(0, |result| result.0)).await;
        let headers = boot_id.as_ref().map(|boot_id| [("Carillon-Boot-Id", boot_id.as_str())]);
        self.while_completing(self.post_with("api/callback", headers.as_ref().map_or(&[], |it| &it[..]), &body)).await
    }

    /// Awaits an answer that comes when a step of `complete` has committed what it is about. No step goes on after it.
    pub async fn while_completing<T>(&self, answer: impl Future<Output = T>) -> T {
        let steps = async {
            loop {
                // Boxed: the compiler follows the layout of nested futures only so deep.
                Box::pin(self.services.completer.step()).await;
                tokio::task::yield_now().await;
            }
        };
        let answer = tokio::select! {
            answer = answer => answer,
            () = steps => unreachable!("it has no end"),
        };
        Box::pin(self.services.advancer.step()).await;
        answer
    }

    /// Of the executor that is registered where the run was sent, if it is one of our SDK.
    pub async fn boot_id_of(&self, run_id: i64) -> Option<String> {
        let address = self.store.runs().run_location(run_id).await.ok()??.address?;
        let executors = self.store.apps().executors().await.ok()?;
        executors.into_iter().find(|executor| executor.address == address)?.boot_id
    }

    /// Takes, renews and gives back leases of shards.
    pub async fn renew_leases(&self) -> LeaseReport {
        self.services.coordinator.step().await.did
    }

    /// One step of the scan of each shard: what they did together, and the shortest pause until the next one.
    pub async fn scan(&self) -> Step<ScanReport> {
        let mut all = Step { did: ScanReport::default(), next: Duration::MAX };
        for scan in self.services.scanners.all() {
            let Step { did, next } = scan.step().await;
            all.next = all.next.min(next);
            all.did.adopted += did.adopted;
            all.did.claimed += did.claimed;
            all.did.released += did.released;
            all.did.skipped += did.skipped;
            all.did.paused += did.paused;
        }
        all
    }

    /// Sends what is due.
    pub async fn dispatch(&self) -> Step<DispatchReport> {
        self.services.dispatcher.step().await
    }

    /// Looks after the runs without an answer, 11 s later.
    pub async fn resolve_later(&self) {
        self.clock.advance(Duration::from_secs(11));
        self.renew_leases().await;
        self.services.resolver.step().await;
    }

    /// One round of everything, and all requests that it sent have come to an end.
    pub async fn round(&self) {
        self.renew_leases().await;
        self.services.refresher.step().await;
        self.scan().await;
        self.dispatch().await;
        // A broadcast is expanded beside one tick and sent by the next.
        wait_for("broadcasts are expanded", async || !self.engine.is_expanding()).await;
        self.dispatch().await;
        self.drain().await;
    }

    pub async fn drain(&self) {
        wait_for("requests have ended and outcomes are written", || {
            let engine = self.engine.clone();
            let complete = self.services.completer.clone();
            let advancer = self.services.advancer.clone();
            let give_back = self.services.unmarker.clone();
            let dispatcher = self.services.dispatcher.clone();
            async move {
                // What comes back from a probe is taken up by a tick.
                if engine.is_probing() {
                    dispatcher.step().await;
                }
                give_back.step().await;
                complete.step().await;
                advancer.step().await;
                engine.is_idle_but_accepted()
            }
        })
        .await;
        // Accepted runs are written after a while.
        self.clock.advance(Duration::from_millis(200));
        self.services.completer.step().await;
        self.clock.set(self.clock.now() - 200);
    }

    pub async fn advance(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
        self.round().await;
    }

    pub async fn runs(&self, job: &Job) -> Vec<RunView> {
        let filter = RunFilter { job_id: Some(job.id), limit: 1000, ..RunFilter::default() };
        let mut runs = self.store.runs().list(&filter).await.unwrap().items;
        runs.sort_by_key(|run| (run.scheduled_at, run.part, run.attempt, run.id));
        runs
    }

    pub async fn states(&self, job: &Job) -> Vec<RunState> {
        self.runs(job).await.iter().map(|run| run.state).collect()
    }

    pub async fn misfires(&self, job: &Job) -> Vec<Misfire> {
        let filter = MisfireFilter { job_id: Some(job.id), limit: 1000, ..MisfireFilter::default() };
        self.store.runs().misfires(&filter).await.unwrap().items
    }

    /// The text of `/metrics`.
    pub fn metrics(&self) -> String {
        self.engine.metrics_text()
    }

    pub async fn fire(&self, job: &Job) -> i64 {
        let ask = RunRequest {
            parts: None,
            job_id: job.id,
            cause: Cause::Manual,
            params: None,
            priority: None,
            address: None,
            idempotency_key: None,
        };
        self.engine.jobs().run(ask, &carillon_store::Actor::engine()).await.unwrap()
    }
}

impl Node {
    /// Another process on the same database; the first one is never heard of again, as after a `kill -9`. The file lock
    /// of SQLite keeps two processes apart, so the database is copied as the first one left it.
    pub async fn restarted(first: &Self, mut config: Config, now: Millis) -> Self {
        let folder = first.config.data_dir.join("restarted");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["carillon.db", "carillon.db-wal"] {
            std::fs::copy(first.config.data_dir.join(name), folder.join(name)).unwrap();
        }
        config.database = carillon_admin::config::Database::in_folder(&folder);
        config.shards = None;
        Self::on(config, Arc::new(ManualClock::new(now))).await
    }
}

/// A service whose report does not matter.
pub trait AnyService {
    fn name(&self) -> &'static str;
    fn wake(&self) -> Option<Arc<Notify>>;
    /// One round; how long it pauses then.
    fn round(&self) -> Pin<Box<dyn Future<Output = Duration> + '_>>;
}

impl<S: Service> AnyService for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Service::wake(self)
    }

    fn round(&self) -> Pin<Box<dyn Future<Output = Duration> + '_>> {
        Box::pin(async { self.step().await.next })
    }
}
