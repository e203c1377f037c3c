//! An address that two apps have registered: what happens to the requests of one changes nothing for the other.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{JobDraft, RouteStrategy, RunState};
use carillon_store::{Definition, Job};
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use serde_json::{Value, json};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START, on_node};

use RunState::{Failed, Running};

/// The apps `orders` and `payroll` with a job of each, which asks before it sends.
struct World<'a> {
    node: &'a Node,
    orders_job: Job,
    payroll_job: Job,
    /// Of `payroll` alone.
    own: RecordingExecutor,
    /// Of both. Its address is the later one, so that it is asked second.
    shared: RecordingExecutor,
}

fn registration(app: &str, executor: &RecordingExecutor) -> Value {
    json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": executor.address})
}

impl<'a> World<'a> {
    async fn start(node: &'a Node) -> Self {
        let mut executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        executors.sort_by(|a, b| a.address.cmp(&b.address));
        let [own, shared] = executors;
        let payroll = node.engine.apps().create("payroll", None, &actor()).await.unwrap();
        for app in ["orders", "payroll"] {
            assert_eq!(node.post("api/registry", &registration(app, &shared)).await["code"], 200);
        }
        node.services.refresher.step().await;
        let mut draft = JobDraft::new("payroll", "pay", "pay");
        draft.route = RouteStrategy::Failover;
        let definition = Definition::check(&payroll, &draft, START).unwrap();
        let created = node.store.jobs().create(vec![definition], START, &actor(), None).await;
        let payroll_job = created.unwrap().remove(0);
        let orders_job = node.job(|draft| draft.route = RouteStrategy::Failover).await;
        Self { node, orders_job, payroll_job, own, shared }
    }

    async fn run(&self, job: &Job) {
        self.node.fire(job).await;
        self.node.round().await;
    }

    fn is_unreachable(&self, app: &str) -> bool {
        self.node.engine.is_unreachable(app, &self.shared.address, 0)
    }

    async fn expect_a_run_of_orders(&self) {
        self.shared.reply_to_probes(Reply::Accept);
        self.run(&self.orders_job).await;
        assert_eq!(self.node.states(&self.orders_job).await, [Running]);
    }
}

// covers: V3
#[test]
fn what_an_executor_answers_to_one_app_counts_for_no_other() {
    on_node(async |node| {
        let world = World::start(node).await;
        world.shared.reply_to_probes(Reply::refused("The access token is wrong."));
        world.run(&world.payroll_job).await;
        assert_eq!(node.states(&world.payroll_job).await, [Failed]);
        world.expect_a_run_of_orders().await;
        assert_eq!(world.shared.received("/beat").len(), 2, "it was asked again within the second");
    });
}

// covers: V3
#[test]
fn an_address_that_is_closed_for_one_app_is_open_for_another() {
    on_node(async |node| {
        let world = World::start(node).await;
        world.shared.reply_to_probes(Reply::Never);
        for _ in 0..3 {
            world.run(&world.payroll_job).await;
            node.clock.advance(Duration::from_millis(1_100));
        }
        assert!(world.is_unreachable("payroll") && !world.is_unreachable("orders"));
        world.expect_a_run_of_orders().await;
    });
}

// covers: V3, V5
#[test]
fn an_address_that_is_deregistered_before_it_is_asked_is_closed_for_no_app() {
    on_node(async |node| {
        let world = World::start(node).await;
        assert_eq!(node.post("api/registry", &registration("payroll", &world.own)).await["code"], 200);
        world.own.reply_to_probes(Reply::Never);
        node.renew_leases().await;
        node.services.refresher.step().await;
        node.fire(&world.payroll_job).await;
        node.scan().await;
        node.dispatch().await;
        wait_for("the first is asked", async || world.own.received("/beat").len() == 1).await;
        assert_eq!(node.post("api/registryRemove", &registration("payroll", &world.shared)).await["code"], 200);
        node.services.refresher.step().await;
        node.drain().await;
        let run = node.runs(&world.payroll_job).await.remove(0);
        let why = format!("{}: no token of payroll is known for {0}", world.shared.address);
        assert!(run.state == Failed && run.message().ends_with(&why), "{}", run.message());
        assert!(world.shared.received("/beat").is_empty());
        assert!(!world.is_unreachable("payroll") && !world.is_unreachable("orders"));
        world.expect_a_run_of_orders().await;
    });
}
