//! Nodes with a database of their own, and what is asked of them.

use std::time::Duration;

use carillon_testkit::{AdminClient, ApiClient, Program, ProgramSettings, wait_for};
use sea_orm::DatabaseConnection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Options;
use crate::node::{self, BenchDatabase};

pub const APP: &str = "bench";
/// Between two looks at a run.
const POLL: Duration = Duration::from_millis(100);

pub struct Cluster {
    pub nodes: Vec<Program>,
    pub api: ApiClient,
    pub settings: ProgramSettings,
    database: BenchDatabase,
    pub folder: TempDir,
}

impl Cluster {
    /// Each node has its share of the shards.
    pub async fn start(options: &Options) -> Self {
        let (folder, database) = (tempfile::tempdir().unwrap(), BenchDatabase::create(&options.db).await);
        let folder_of = |number: usize| folder.path().join(number.to_string());
        let mut first = node::settings(None, &folder_of(0), database.url.as_deref());
        if options.nodes > 1 && !options.no_redis {
            let redis = std::env::var("CARILLON_TEST_REDIS_URL");
            first = first.env("CARILLON_REDIS_URL", redis.expect("`make bench` and `make services` set it"));
        }
        let mut nodes = vec![];
        let mut apis = vec![];
        for number in 0..options.nodes {
            let mut settings = if number == 0 { first.clone() } else { first.another(&folder_of(number)) };
            std::fs::create_dir(folder_of(number)).unwrap();
            let (process, api) = node::start(&mut settings).await;
            nodes.push(process);
            apis.push(api);
        }
        wait_for("the shards are divided", async || {
            let mut held = vec![];
            for api in &apis {
                held.push(api.metric("carillon_shards_held").await as usize);
            }
            held.iter().sum::<usize>() == 8 && held.iter().max().unwrap() - held.iter().min().unwrap() <= 1
        })
        .await;
        let api = apis.swap_remove(0);
        api.post("apps", json!({"name": APP})).await.ok();
        Self { nodes, api, settings: first, database, folder }
    }

    /// Of executors, each of which prefers another node.
    pub fn admins(&self) -> Vec<AdminClient> {
        let urls = |at: usize| (0..self.nodes.len()).map(move |number| (at + number) % self.nodes.len());
        let admin = |at| AdminClient::new(urls(at).map(|number| self.nodes[number].url()), &self.settings.access_token);
        (0..self.nodes.len()).map(admin).collect()
    }

    /// A connection beside the nodes'; None: SQLite.
    pub async fn server(&self) -> Option<DatabaseConnection> {
        self.database.url.as_ref()?;
        Some(self.database.connect(self.folder.path(), "ro").await)
    }

    /// Creates it; answers its id.
    pub async fn create_job(&self, draft: Value) -> i64 {
        self.api.post("jobs", draft).await.ok()["id"].as_i64().unwrap()
    }

    /// A run of the job, now; answers its id.
    pub async fn run(&self, job: i64) -> i64 {
        self.api.post(&format!("jobs/{job}/run"), json!({})).await.ok()["id"].as_i64().unwrap()
    }

    /// The run, when it has ended.
    pub async fn ended(&self, run: i64) -> Value {
        loop {
            let found = self.api.get(&format!("runs/{run}")).await.ok();
            if !found["finished_at"].is_null() {
                return found;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The sum of a counter over all nodes.
    pub async fn count(&self, name: &str) -> f64 {
        let mut sum = 0.0;
        for node in &self.nodes {
            sum += node.api().metric(name).await;
        }
        sum
    }

    pub async fn end(self) {
        for node in self.nodes {
            node.kill().await;
        }
        self.database.drop_database().await;
    }
}

/// Milliseconds between two instants of an answer.
pub fn between(run: &Value, from: &str, to: &str) -> f64 {
    let instant = |member: &str| chrono::DateTime::parse_from_rfc3339(run[member].as_str().unwrap()).unwrap();
    (instant(to) - instant(from)).as_seconds_f64() * 1000.0
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
