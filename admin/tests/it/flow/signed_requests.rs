//! Executors that sign their requests: what counts in their name, and what they are sent.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_admin::Admin;
use carillon_engine::runtime::Service as _;
use carillon_executor::{Executor, JobContext, log};
use carillon_protocol::{SIGNED_FOR_ADMIN, Signature, SignedRequest, SigningKey, WRONG_TOKEN, headers};
use carillon_scheduler::{AuditAction, Clock as _, JobDraft, Millis, RunState, SystemClock};
use carillon_store::audit::list::AuditFilter;
use carillon_testkit::{AdminClient, Call, LIMIT, RecordingExecutor, wait_for};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

use RunState::{Running, Succeeded};

const BOOT: &str = "boot";

/// A request of an executor that signs.
#[derive(Clone)]
struct Signed {
    path: &'static str,
    body: Vec<u8>,
    headers: Vec<(&'static str, String)>,
    signature: String,
}

impl Signed {
    fn new(token: &str, path: &'static str, body: &Value, at: Millis) -> Self {
        Self::of_start(BOOT, token, path, body, at)
    }

    fn of_start(boot_id: &str, token: &str, path: &'static str, body: &Value, at: Millis) -> Self {
        let headers = vec![
            (headers::BOOT_ID, boot_id.to_owned()),
            (headers::CAPABILITIES, "idem,batch,signed".to_owned()),
            (headers::JOURNAL_ID, "journal".to_owned()),
        ];
        let body = serde_json::to_vec(body).unwrap();
        let all = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let request = SignedRequest { receiver: SIGNED_FOR_ADMIN, path, headers: all };
        let signature = SigningKey::new(token).sign(request, &body, at, rand::random());
        Self { path, body, headers, signature }
    }

    /// The message of the answer; empty: it was accepted.
    async fn send(&self, node: &Node) -> String {
        self.send_below(node, "").await
    }

    async fn send_below(&self, node: &Node, prefix: &str) -> String {
        let call = node.http.post(format!("{}{prefix}{}", node.url, self.path));
        let call = self.headers.iter().fold(call, |call, (name, value)| call.header(*name, value));
        let call = call.header(headers::SIGNATURE, &self.signature).body(self.body.clone());
        let answer = async { call.send().await.unwrap().json::<Value>().await.unwrap() };
        let answer = node.while_completing(answer).await;
        node.services.refresher.step().await;
        if answer["code"] == 200 { String::new() } else { answer["msg"].as_str().unwrap().to_owned() }
    }
}

fn registration(executor: &RecordingExecutor) -> Value {
    json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address})
}

/// Whether the admin has signed the request for this executor, and sent no token.
fn is_signed(call: &Call, token: &str, receiver: &str, now: Millis) -> bool {
    let names = [
        headers::APP,
        headers::FIRE_KEY,
        headers::SCHEDULED_AT,
        headers::ATTEMPT,
        headers::EPOCH,
        headers::NOT_AFTER,
        headers::RUN_ID,
    ];
    let all = names.iter().filter_map(|name| Some((*name, call.header(name)?.as_bytes())));
    let signature = Signature::parse(call.header(headers::SIGNATURE).unwrap().as_bytes()).unwrap();
    let request = SignedRequest { receiver, path: &call.path, headers: all };
    let is_right = signature.check(&SigningKey::new(token), request, now).is_ok();
    is_right && signature.check_body(call.body.as_bytes()).is_ok() && call.header(headers::TOKEN).is_none()
}

// covers: S25
#[test]
fn what_was_recorded_changed_or_is_old_does_not_register_an_executor() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let (executor, token) = (RecordingExecutor::start().await, node.config.access_token.clone());
        let good = Signed::new(&token, "/api/registry", &registration(&executor), START);
        let other_headers = vec![(headers::BOOT_ID, "another".to_owned())];
        for changed in [
            Signed { headers: other_headers, ..good.clone() },
            Signed { path: "/api/registryRemove", ..good.clone() },
            Signed::new(&random_secret(), "/api/registry", &registration(&executor), START),
        ] {
            assert_eq!(changed.send(&node).await, WRONG_TOKEN);
        }
        let body = Signed { body: b"{}".to_vec(), ..good.clone() };
        assert_eq!(body.send(&node).await, "the body is not the one that was signed");
        for at in [START - 61_000, START + 61_000] {
            let message = Signed::new(&token, "/api/registry", &registration(&executor), at).send(&node).await;
            assert_eq!(message, "the request was signed 61 s from this clock's time; at most 60 s are allowed");
        }
        assert!(node.store.apps().executors().await.unwrap().is_empty());
        // The body that was refused had used the signature.
        assert_eq!(good.send(&node).await, "a request with this signature was here before");
        let good = Signed::new(&token, "/api/registry", &registration(&executor), START);
        assert_eq!(good.send_below(&node, "/xxl-job-admin").await, "", "with a context path");
        assert_eq!(node.store.apps().executors().await.unwrap().len(), 1);
        assert_eq!(good.send(&node).await, "a request with this signature was here before");
    });
}

// covers: S25
#[test]
fn an_executor_that_signs_is_sent_no_token_and_nothing_unsigned_counts_in_its_name() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let (executor, token) = (RecordingExecutor::start().await, node.config.access_token.clone());
        let signed = |path, body: &Value| Signed::new(&token, path, body, START);
        assert_eq!(signed("/api/registry", &registration(&executor)).send(&node).await, "");
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [Running]);
        let sent = [executor.received("/run"), executor.received("/runs")].concat();
        assert!(
            !sent.is_empty() && sent.iter().all(|call| is_signed(call, &token, &executor.address, START)),
            "{sent:?}"
        );

        // With the right token, and no signature.
        let plain = async |path: &str, body: &Value| {
            let call = node.http.post(format!("{}{path}", node.url)).header(headers::TOKEN, &token);
            let answer = call.header(headers::BOOT_ID, BOOT).json(body).send().await.unwrap();
            answer.json::<Value>().await.unwrap()["msg"].as_str().unwrap_or_default().to_owned()
        };
        let unsigned = "the executor at this address signs its requests; this one is not signed";
        for path in ["/api/registry", "/api/registryRemove"] {
            assert_eq!(plain(path, &registration(&executor)).await, unsigned);
        }
        let result = json!([{"logId": run, "logDateTim": 1, "handleCode": 200, "handleMsg": "done"}]);
        assert_eq!(plain("/api/callback", &result).await, "this executor signs its requests; this one is not signed");
        let filter = AuditFilter { actions: vec![AuditAction::Deny], limit: 10, ..AuditFilter::default() };
        let denied = node.store.audit().list(&filter).await.unwrap().items;
        assert_eq!(denied.len(), 3);
        assert!(
            denied.iter().all(|it| it.object == "executor_token" && it.detail.contains("not signed")),
            "{denied:?}"
        );
        assert_eq!(node.states(&job).await, [Running]);
        assert_eq!(node.store.apps().executors().await.unwrap()[0].capabilities.as_deref(), Some("idem,batch,signed"));

        assert_eq!(signed("/api/callback", &result).send(&node).await, "");
        assert_eq!(node.states(&job).await, [Succeeded]);
        assert_eq!(signed("/api/registryRemove", &registration(&executor)).send(&node).await, "");
        assert!(node.store.apps().executors().await.unwrap().is_empty());
        assert_eq!(plain("/api/registry", &registration(&executor)).await, "", "it may be set up in another way now");
    });
}

// covers: S25
#[test]
fn a_recorded_deregistration_ends_no_later_start_at_another_node() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let (executor, token) = (RecordingExecutor::start().await, node.config.access_token.clone());
        let of_start = |boot_id: &str, path| Signed::of_start(boot_id, &token, path, &registration(&executor), START);
        assert_eq!(of_start("one", "/api/registry").send(&node).await, "");
        let recorded = of_start("one", "/api/registryRemove");
        assert_eq!(recorded.send(&node).await, "");
        assert!(node.store.apps().executors().await.unwrap().is_empty());
        assert_eq!(of_start("two", "/api/registry").send(&node).await, "");
        // A node that was started after it has seen no signature.
        let other = Node::restarted(&node, node.config.clone(), START).await;
        assert_eq!(recorded.send(&other).await, "", "it is answered, and ends nothing");
        assert_eq!(other.store.apps().executors().await.unwrap()[0].boot_id.as_deref(), Some("two"));
        assert_eq!(of_start("two", "/api/registryRemove").send(&other).await, "");
        assert!(other.store.apps().executors().await.unwrap().is_empty());
    });
}

// covers: S25
#[test]
fn a_run_goes_to_an_executor_and_back_without_a_token_on_the_wire() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let (config, clock) = (db.config(), Arc::new(SystemClock::new()));
        let token = config.access_token.clone();
        let admin = Admin::build(config, clock.clone()).await.unwrap();
        let (url, store, engine) = (format!("http://{}", admin.address()), admin.store.clone(), admin.engine.clone());
        let stop = CancellationToken::new();
        let _stopping = stop.clone().drop_guard();
        tokio::spawn(admin.run(stop.clone()));
        store.apps().create("orders", "Orders", clock.now(), &actor()).await.unwrap();
        let executor = Executor::builder()
            .admin(&url)
            .token(&token)
            .signed()
            .app("orders")
            .data_dir(db.folder().join("executor"))
            .grace(Duration::ZERO)
            .job("close", |ctx: JobContext| async move {
                log!(ctx, "closing");
                Ok("closed")
            })
            .build()
            .unwrap();
        let handle = executor.handle();
        tokio::spawn(executor.run(stop.clone().cancelled_owned()));
        tokio::time::timeout(LIMIT, handle.registered()).await.unwrap();
        let by = actor();
        let job = engine.jobs().create(JobDraft::new("orders", "Close", "close"), None, &by).await.unwrap();
        let ask = carillon_engine::manage::RunRequest {
            parts: None,
            job_id: job.id,
            cause: carillon_scheduler::Cause::Manual,
            params: None,
            priority: None,
            address: None,
            idempotency_key: None,
        };
        let run = engine.jobs().run(ask, &by).await.unwrap();
        wait_for("the run's end", async || engine.runs().get(run).await.unwrap().state == Succeeded).await;
        assert!(
            engine.runs().log(run, 1, &carillon_store::Actor::engine()).await.unwrap().content.contains("closing"),
            "the log is asked for with a signature too"
        );
        // As the stand-ins of the benchmark do.
        let stand_in = RecordingExecutor::start().await;
        let signing = AdminClient::new([url], &token).with_capabilities("signed");
        assert!(signing.register("orders", &stand_in.address).await);
    });
}
