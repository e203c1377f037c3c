//! HTTP jobs: requests to a service over real connections, and what its answers mean.

mod answers;
mod callbacks;
mod evidence;
mod idempotent;
mod networks;
mod oauth;
mod secrets;
mod send_once;
mod service;
mod under_way;
mod upgrade;

use std::net::SocketAddr;
use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_admin::config::{Config, Networks};
use carillon_scheduler::{HttpDraft, JobDraft, ManualClock};
use carillon_store::{Job, RunView};

use crate::flow::node::{Node, START};
use crate::services::{Kind, TestDatabase, on};

/// A node that may call loopback.
fn with_node(test: impl AsyncFnOnce(&Node)) {
    with_config(allow_loopback, test);
}

fn allow_loopback(config: &mut Config) {
    config.http_networks = Some(Networks::parse("http-networks", "127.0.0.1").unwrap());
}

fn with_config(change: impl FnOnce(&mut Config), test: impl AsyncFnOnce(&Node)) {
    with_database(Kind::Sqlite, change, async |node: &Node, _: &TestDatabase| test(node).await);
}

fn with_database(kind: Kind, change: impl FnOnce(&mut Config), test: impl AsyncFnOnce(&Node, &TestDatabase)) {
    on(kind, async |db| {
        let mut config = db.config();
        config.shards = Some(2);
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        change(&mut config);
        test(&Node::on(config, Arc::new(ManualClock::new(START))).await, db).await;
    });
}

/// A job that calls this URL.
async fn job(node: &Node, url: &str, change: impl FnOnce(&mut JobDraft, &mut HttpDraft)) -> Job {
    node.job(|draft| {
        let mut request = HttpDraft::new(url);
        draft.handler.clear();
        change(draft, &mut request);
        draft.http = Some(request);
    })
    .await
}

/// Its only run.
async fn run_of(node: &Node, job: &Job) -> RunView {
    let mut runs = node.runs(job).await;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Fires it, and what came of it.
async fn fired(node: &Node, job: &Job) -> RunView {
    node.fire(job).await;
    node.round().await;
    run_of(node, job).await
}

/// Nothing listens there.
fn closed_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}
