//! One load on nodes and a database of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use carillon_testkit::{AdminClient, ApiClient, Process, Program, Receipt, now_ms};
use serde_json::json;
use tempfile::TempDir;

use crate::executors::Executors;
use crate::node::{self, BenchDatabase};
use crate::options::Options;
use crate::report::Figures;

const APP: &str = "bench";

/// They belong to the start: connections, caches, the whole look-ahead claimed at once.
pub const START: Duration = Duration::from_secs(6);
/// What is late arrives within them.
const AFTERWARDS: Duration = Duration::from_secs(2);

pub struct Trial {
    pub nodes: Vec<Program>,
    pub api: ApiClient,
    pub admins: Vec<AdminClient>,
    pub executors: Executors,
    pub database: BenchDatabase,
    /// With a folder for each node.
    pub folder: TempDir,
}

impl Trial {
    /// One node that has no jobs yet, and executors of the app `bench`.
    pub async fn start(options: &Options) -> Self {
        Self::start_build(options, options.binary.as_deref()).await
    }

    /// The same with this binary; without one with that of this build.
    pub async fn start_build(options: &Options, binary: Option<&Path>) -> Self {
        Self::start_with(options, binary, None, 1, |_, _| ()).await
    }

    /// Several nodes with Redis. `started`: called with the number and the process of each, as soon as it is ready.
    pub async fn start_nodes(options: &Options, count: usize, started: impl Fn(usize, &Process)) -> Self {
        Self::start_with(options, options.binary.as_deref(), Some(redis_url()), count, started).await
    }

    async fn start_with(
        options: &Options,
        binary: Option<&Path>,
        redis: Option<String>,
        count: usize,
        started: impl Fn(usize, &Process),
    ) -> Self {
        let (folder, database) = (tempfile::tempdir().unwrap(), BenchDatabase::create(&options.db).await);
        let folder_of = |number: usize| folder.path().join(number.to_string());
        let first = node::settings(binary, &folder_of(0), database.url.as_deref());
        let first =
            first.arg(format!("--shards={}", options.shards)).arg(format!("--look-ahead={}s", options.look_ahead));
        let first = if options.http { first.env("CARILLON_HTTP_NETWORKS", "127.0.0.1") } else { first };
        let first = match redis {
            Some(url) => first.env("CARILLON_REDIS_URL", url),
            None => first,
        };
        let (mut nodes, mut apis) = (vec![], vec![]);
        for number in 0..count {
            let mut settings = if number == 0 { first.clone() } else { first.another(&folder_of(number)) };
            std::fs::create_dir(folder_of(number)).unwrap();
            let (process, api) = node::start(&mut settings).await;
            started(number, &process);
            nodes.push(process);
            apis.push(api);
        }
        let url_from =
            |at: usize| (0..count).map(move |number| (at + number) % count).map(|number| nodes[number].url());
        let admin = |at| AdminClient::new(url_from(at), &first.access_token).with_capabilities(options.capabilities());
        let admins: Vec<AdminClient> = (0..count).map(admin).collect();
        let api = apis.swap_remove(0);
        api.post("apps", json!({"name": "bench"})).await.ok();
        let executors = Executors::start(&admins, "bench", options.executors).await;
        Self { nodes, api, admins, executors, database, folder }
    }

    /// Where the first node keeps its files.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join("0")
    }

    pub async fn create_jobs(&self, options: &Options, jobs: usize) {
        node::create_jobs(&self.api, APP, jobs, |job| options.schedule(job)).await;
        if options.limit > 0 {
            let limit = json!({"name": "at-work", "app": APP, "max": options.limit, "all_jobs": true});
            self.api.post("limits", limit).await.ok();
        }
    }

    /// What the executors receive in these seconds, and what the first node needs for it.
    pub async fn measure(&self, options: &Options) -> Figures {
        measure(&self.nodes[0], &self.executors, options, |_| ()).await
    }

    pub async fn end(self) {
        for node in self.nodes {
            node.kill().await;
        }
        self.database.drop_database().await;
    }
}

/// The same for any process that has these executors. `correct`: changes what they have received, before it is looked at.
pub async fn measure(
    process: &Process,
    executors: &Executors,
    options: &Options,
    correct: impl Fn(&mut Receipt),
) -> Figures {
    let receipts = || {
        let mut received = executors.receipts();
        received.iter_mut().for_each(&correct);
        received
    };
    measure_receipts(process, options, receipts).await
}

/// The same for any that receive runs.
pub async fn measure_receipts(process: &Process, options: &Options, receipts: impl Fn() -> Vec<Receipt>) -> Figures {
    let (before, from) = (process.usage(), now_ms());
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    let (after, to) = (process.usage(), now_ms());
    tokio::time::sleep(AFTERWARDS).await;
    Figures::of(&receipts(), options.every, (from, to), (&before, &after))
}

fn redis_url() -> String {
    std::env::var("CARILLON_TEST_REDIS_URL").expect("CARILLON_TEST_REDIS_URL; `make bench` and `make services` set it")
}
