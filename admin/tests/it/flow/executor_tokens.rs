//! The tokens of apps: what each lets an executor do, which is sent to whom, and what a forged result changes.

use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{AuditAction, JobDraft, ManualClock, RunState};
use carillon_store::audit::list::{AuditFilter, AuditRow};
use carillon_store::{Actor, App, Definition, Job};
use carillon_testkit::RecordingExecutor;
use serde_json::{Value, json};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

use RunState::{Claimed, Failed, Running, Succeeded};

const TOKEN: &str = "XXL-JOB-ACCESS-TOKEN";

/// A node with two apps, `orders` and `payroll`, and a token of each.
pub struct World {
    pub node: Node,
    pub payroll: App,
    pub orders_token: String,
    pub payroll_token: String,
}

impl World {
    pub async fn start(db: &TestDatabase) -> Self {
        let mut config = db.config();
        config.shards = Some(1);
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        let payroll = node.engine.apps().create("payroll", None, &actor()).await.unwrap();
        let orders_token = token(&node, &node.app).await.1;
        let payroll_token = token(&node, &payroll).await.1;
        Self { node, payroll, orders_token, payroll_token }
    }

    pub async fn post(&self, path: &str, token: &str, headers: &[(&str, &str)], body: &Value) -> Value {
        let call = self.node.http.post(format!("{}/api/{path}", self.node.url)).header(TOKEN, token);
        let call = headers.iter().fold(call, |call, (name, value)| call.header(*name, *value));
        call.json(body).send().await.unwrap().json().await.unwrap()
    }

    pub async fn register(&self, path: &str, token: &str, app: &str, executor: &RecordingExecutor) -> Value {
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": executor.address});
        let answer = self.post(path, token, &[], &body).await;
        self.node.services.refresher.step().await;
        answer
    }

    /// A result, which is answered when a step has taken it.
    async fn report(&self, token: &str, headers: &[(&str, &str)], run_id: i64, code: i32) -> Value {
        self.report_all(token, headers, &[run_id], code).await
    }

    async fn report_all(&self, token: &str, headers: &[(&str, &str)], runs: &[i64], code: i32) -> Value {
        let result = |run_id: &i64| json!({"logId": run_id, "logDateTim": 1, "handleCode": code, "handleMsg": "said"});
        let body = json!(runs.iter().map(result).collect::<Vec<_>>());
        self.node.while_completing(self.post("callback", token, headers, &body)).await
    }

    async fn job_of_payroll(&self) -> Job {
        let draft = JobDraft::new("payroll", "pay", "pay");
        let definition = Definition::check(&self.payroll, &draft, START).unwrap();
        self.node.store.jobs().create(vec![definition], START, &actor(), None).await.unwrap().remove(0)
    }

    async fn refused_in_audit(&self) -> usize {
        self.audit(AuditAction::RefuseResult).await.len()
    }

    pub async fn audit(&self, action: AuditAction) -> Vec<AuditRow> {
        let filter = AuditFilter { actions: vec![action], limit: 200, ..AuditFilter::default() };
        self.node.store.audit().list(&filter).await.unwrap().items
    }
}

async fn token(node: &Node, app: &App) -> (i64, String) {
    let (created, token) = node.engine.app_tokens().create(app.id, "one", None, &actor()).await.unwrap();
    (created.id, token)
}

fn sent_token(executor: &RecordingExecutor) -> String {
    executor.runs().last().unwrap().header(TOKEN).unwrap().to_owned()
}

// covers: V3, S14, S17, H30
#[test]
fn a_token_registers_executors_of_its_app_alone() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let executor = RecordingExecutor::start().await;
        let stolen = world.register("registry", &world.orders_token, "payroll", &executor).await;
        assert_eq!(stolen["code"], 500);
        assert_eq!(stolen["msg"], "registryKey: the access token is not one of the app payroll");
        assert_eq!(world.register("registry", &world.payroll_token, "payroll", &executor).await["code"], 200);
        let silenced = world.register("registryRemove", &world.orders_token, "payroll", &executor).await;
        assert_eq!(silenced["code"], 500);
        let registered = world.node.store.apps().executors().await.unwrap();
        assert_eq!((registered.len(), &*registered[0].app, registered[0].token_id.is_some()), (1, "payroll", true));
        let tokens = world.node.store.apps().executor_tokens_of(world.payroll.id).await.unwrap();
        assert_eq!((tokens[0].used_at, tokens[0].used_from.as_deref()), (Some(START), Some("127.0.0.1")));
        assert_eq!(world.register("registryRemove", &world.payroll_token, "payroll", &executor).await["code"], 200);
        assert!(world.node.store.apps().executors().await.unwrap().is_empty());
    });
}

// covers: S37
#[test]
fn the_first_use_of_a_token_from_an_address_is_in_the_audit() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let executor = RecordingExecutor::start().await;
        for _ in 0..3 {
            world.register("registry", &world.orders_token, "orders", &executor).await;
        }
        let used = world.audit(AuditAction::UseToken).await;
        assert_eq!(used.len(), 1, "{used:?}");
        let id = world.node.store.apps().executor_tokens_of(world.node.app.id).await.unwrap()[0].id;
        let of = (used[0].object.as_str(), used[0].object_id, used[0].source.as_str(), used[0].actor.as_str());
        assert_eq!(of, ("executor_token", id, "127.0.0.1", "executor"));
        assert_eq!(used[0].app_id, Some(world.node.app.id));
    });
}

// covers: V2, S14
#[test]
fn a_result_counts_from_the_app_and_the_executor_that_have_the_run() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let executor = RecordingExecutor::start().await;
        world.register("registry", &world.payroll_token, "payroll", &executor).await;
        let job = world.job_of_payroll().await;
        let run = node.fire(&job).await;
        assert_eq!(world.report(&world.payroll_token, &[], run, 200).await["code"], 200, "as an unknown run");
        assert_eq!(node.states(&job).await, [Claimed], "it was never sent");
        node.round().await;
        assert_eq!(node.states(&job).await, [Running]);
        assert_eq!(sent_token(&executor), world.payroll_token);
        for code in [200, 500] {
            assert_eq!(world.report(&world.orders_token, &[], run, code).await["code"], 200, "as an unknown run");
        }
        assert_eq!(node.states(&job).await, [Running], "it is of another app");
        assert_eq!(world.refused_in_audit().await, 3);
        assert!(node.metrics().contains("carillon_results_foreign_total 2"));
        assert_eq!(world.report(&world.payroll_token, &[], run, 200).await["code"], 200);
        assert_eq!(node.states(&job).await, [Succeeded]);
        let mut runs = vec![];
        for _ in 0..12 {
            runs.push(node.fire(&job).await);
        }
        node.round().await;
        world.report_all(&world.orders_token, &[], &runs, 500).await;
        assert_eq!(world.refused_in_audit().await, 10, "at most ten a minute");
    });
}

// covers: V2
#[test]
fn a_result_counts_from_the_start_that_has_the_run() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let executor = RecordingExecutor::start().await;
        node.register_own(&executor, "boot-one").await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [Running]);
        let token = node.config.access_token.clone();
        for headers in [&[][..], &[("Carillon-Boot-Id", "boot-two")]] {
            assert_eq!(world.report(&token, headers, run, 200).await["code"], 200, "as an unknown run");
            assert_eq!(node.states(&job).await, [Running]);
        }
        world.report(&token, &[("Carillon-Boot-Id", "boot-one")], run, 500).await;
        assert_eq!(node.states(&job).await, [Failed]);
    });
}

// covers: V2
#[test]
fn another_apps_token_starts_no_children() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let executor = RecordingExecutor::start().await;
        world.register("registry", &world.payroll_token, "payroll", &executor).await;
        let child = world.job_of_payroll().await;
        let mut draft = JobDraft::new("payroll", "parent", "pay");
        draft.children = vec![child.id];
        let parent = node.engine.jobs().create(draft, None, &Actor::engine()).await.unwrap();
        let run = node.fire(&parent).await;
        node.round().await;
        world.report(&world.orders_token, &[], run, 200).await;
        assert_eq!((node.states(&parent).await, node.states(&child).await), (vec![Running], vec![]));
        world.report(&world.payroll_token, &[], run, 200).await;
        assert_eq!(node.states(&child).await, [Claimed]);
    });
}

// covers: S17, V3
#[test]
fn an_app_that_accepts_its_own_tokens_alone_refuses_the_one_of_all_apps() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let global = node.config.access_token.clone();
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        assert_eq!(sent_token(&executor), global, "it registered with the one of all apps");
        node.engine.app_tokens().set_own_tokens_only(node.app.id, true, &actor()).await.unwrap();
        assert!(node.store.apps().executors().await.unwrap().is_empty(), "such registrations end");
        assert_eq!(world.register("registry", &global, "orders", &executor).await["code"], 500);
        world.report(&global, &[], run, 200).await;
        assert_eq!(node.states(&job).await, [Running]);
        world.report(&world.orders_token, &[], run, 200).await;
        assert_eq!(node.states(&job).await, [Succeeded]);
        let other = RecordingExecutor::start().await;
        assert_eq!(world.register("registry", &global, "payroll", &other).await["code"], 200, "payroll accepts it");
        let pay = world.job_of_payroll().await;
        let run = node.fire(&pay).await;
        node.round().await;
        world.report(&global, &[], run, 200).await;
        assert_eq!(node.states(&pay).await, [Succeeded]);
    });
}

// covers: S17
#[test]
fn a_revoked_token_is_refused_and_its_executors_are_called_no_more() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let executor = RecordingExecutor::start().await;
        world.register("registry", &world.orders_token, "orders", &executor).await;
        let (id, new) = token(node, &node.app).await;
        let third = node.engine.app_tokens().create(node.app.id, "three", None, &actor()).await;
        assert!(third.unwrap_err().to_string().contains("2 valid tokens"));
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(sent_token(&executor), world.orders_token, "it has not used the new one yet");
        assert_eq!(world.register("registry", &new, "orders", &executor).await["code"], 200);
        node.fire(&job).await;
        node.round().await;
        assert_eq!(sent_token(&executor), new);
        let all = node.store.apps().executor_tokens_of(node.app.id).await.unwrap();
        let old = all.iter().find(|token| token.id != id).unwrap();
        node.engine.app_tokens().revoke(node.app.id, old.id, &actor()).await.unwrap();
        let refused = world.register("registry", &world.orders_token, "orders", &executor).await;
        assert_eq!(refused["msg"], "The access token is wrong.");
        assert_eq!(node.store.apps().executors().await.unwrap().len(), 1, "it had registered with the new one");
        node.engine.app_tokens().revoke(node.app.id, id, &actor()).await.unwrap();
        assert_eq!(node.store.apps().executors().await.unwrap().len(), 0);
        assert_eq!(world.register("registry", &new, "orders", &executor).await["code"], 500);
    });
}

// covers: S34
#[test]
fn neither_the_database_nor_the_metrics_hold_a_token() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        for name in ["carillon.db", "carillon.db-wal"] {
            let file = std::fs::read(world.node.config.data_dir.join(name)).unwrap_or_default();
            for token in [&world.orders_token, &world.payroll_token] {
                assert!(!file.windows(token.len()).any(|part| part == token.as_bytes()), "{name}");
            }
        }
        assert!(!world.node.metrics().contains(&world.orders_token));
    });
}
