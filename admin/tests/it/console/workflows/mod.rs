//! Workflows in the console: their pages, the form, and what people decide.

mod decisions;
mod definition;
mod form;
mod progress;
mod rerun;

use std::sync::Arc;

use carillon_accounts::people;
use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::ManualClock;
use carillon_store::{Actor, GrantScope, Grants, Role};
use carillon_testkit::RecordingExecutor;

use super::client::ConsoleClient;
use crate::flow::node::{Node, START};
use crate::flow::workflows::steps::Steps;
use crate::services::{Kind, TestDatabase};

/// A node whose steps the test makes, with an executor, and a signed-in administrator.
struct World {
    node: Node,
    admin: ConsoleClient,
    _executor: RecordingExecutor,
    _database: TestDatabase,
}

impl World {
    async fn start() -> Self {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        let password = random_secret();
        (config.shards, config.admin_password) = (Some(2), Some(password.clone()));
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let admin = ConsoleClient::new(&node.url);
        assert_eq!(admin.sign_in(FIRST_ADMIN, &password).await.status, 303);
        Self { node, admin, _executor: executor, _database: database }
    }

    /// Somebody with this role in the app `orders`, and nowhere else.
    async fn person(&self, role: Role) -> ConsoleClient {
        let grants: Grants = [(GrantScope::App(self.node.app.id), role)].into_iter().collect();
        let (name, password) = (format!("{role}-of-orders"), random_secret());
        people::add(&self.node.store, &name, &password, &grants, START, &Actor::engine()).await.unwrap();
        let person = ConsoleClient::new(&self.node.url);
        assert_eq!(person.sign_in(&name, &password).await.status, 303);
        person
    }

    async fn get(&self, path: &str) -> String {
        let answer = self.admin.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// The page of a run.
    async fn run_page(&self, run_id: i64) -> String {
        self.get(&format!("/runs/{run_id}")).await
    }
}

/// `a -> b`, and `c` after `a` has failed; `a` has failed, so `c` runs and `b` does not.
async fn failed_at_first(world: &World) -> (Steps<'_>, i64) {
    let nodes = serde_json::json!({
        "a": {}, "b": {"after": ["a"]}, "c": {"after": [{"node": "a", "on": "failure"}]}
    });
    let steps = Steps::new(&world.node, nodes, |_| ()).await;
    let run_id = steps.fire().await;
    steps.end("a", 500, "the disk is full").await;
    (steps, run_id)
}

/// The row of a node.
fn row<'a>(page: &'a str, node: &str) -> &'a str {
    let start = format!("<tr data-key=\"{node}\"");
    page.split(&start).nth(1).unwrap_or_else(|| panic!("no row of {node}: {page}")).split("</tr>").next().unwrap()
}

/// A part of a page by its mark for tests.
fn part<'a>(page: &'a str, testid: &str) -> &'a str {
    page.split(&format!("data-testid=\"{testid}\"")).nth(1).unwrap_or_default().split("</section>").next().unwrap()
}

/// A text without its tags.
fn text(html: &str) -> String {
    let pieces = html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}
