//! The real binary as a process of its own, and what the system says it has used.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use carillon_accounts::secret::random_secret;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// How a node is started.
pub struct Setup {
    pub folder: PathBuf,
    pub access_token: String,
    /// None: SQLite in the folder.
    pub database_url: Option<String>,
    /// Further arguments of `carillon serve`.
    pub arguments: Vec<String>,
}

impl Setup {
    pub fn new(folder: &Path, database_url: Option<&str>, arguments: Vec<String>) -> Self {
        Self {
            folder: folder.to_owned(),
            access_token: random_secret(),
            database_url: database_url.map(str::to_owned),
            arguments,
        }
    }
}

pub struct Node {
    pub url: String,
    api_token: String,
    process: Child,
    client: reqwest::Client,
    /// From the start of the process until `/readyz` answered 200.
    pub ready_after: Duration,
}

/// CPU seconds (user, system) and resident memory in MiB.
pub struct Usage {
    pub user: f64,
    pub system: f64,
    pub resident: f64,
}

impl Node {
    pub async fn start(setup: &Setup) -> Self {
        let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let api_token = random_secret();
        let mut command = Command::new(env!("CARGO_BIN_EXE_carillon"));
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--access-token", &setup.access_token, "--api-token", &api_token])
            .arg("--data-dir")
            .arg(&setup.folder)
            .args(&setup.arguments)
            .env("RUST_LOG", "error")
            .stdout(Stdio::null())
            .kill_on_drop(true);
        if let Some(url) = &setup.database_url {
            command.args(["--database-url", url]);
        }
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let started = Instant::now();
        let process = command.spawn().unwrap();
        let mut node =
            Self { url: format!("http://127.0.0.1:{port}"), api_token, process, client, ready_after: Duration::ZERO };
        node.wait_for("it is ready", async || {
            node.client.get(format!("{}/readyz", node.url)).send().await.is_ok_and(|a| a.status() == 200)
        })
        .await;
        node.ready_after = started.elapsed();
        node
    }

    async fn metrics(&self) -> String {
        let metrics = self.client.get(format!("{}/metrics", self.url)).bearer_auth(&self.api_token);
        metrics.send().await.unwrap().text().await.unwrap()
    }

    /// How long the rounds of the scans took at most, as far as the steps of the histogram tell.
    pub async fn print_scans(&self) {
        let metrics = self.metrics().await;
        let value = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name));
        let all = value("carillon_scan_duration_seconds_count ").unwrap();
        let within =
            |step: &&&str| value(&format!("carillon_scan_duration_seconds_bucket{{le=\"{step}\"}} ")) == Some(all);
        let steps = ["0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "15", "60"];
        let longest = steps.iter().find(within).unwrap_or(&"more than 60");
        println!("rounds of scans        {all}, none longer than {longest} s");
    }

    /// Jobs with the same schedule.
    pub async fn create_jobs(&self, app: &str, count: usize, schedule: &Value) {
        for first in (0..count).step_by(1000) {
            let job =
                |n: usize| json!({"app": app, "name": format!("job {n}"), "handler": "bench", "schedule": schedule});
            let jobs: Vec<Value> = (first..count.min(first + 1000)).map(job).collect();
            self.call("jobs:batch", &json!(jobs)).await;
        }
    }

    pub async fn call(&self, path: &str, body: &Value) {
        let call = self.client.post(format!("{}/api/v1/{path}", self.url)).bearer_auth(&self.api_token).json(body);
        let answer = call.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
    }

    async fn wait_for(&self, what: &str, condition: impl AsyncFn() -> bool) {
        let until = Instant::now() + Duration::from_secs(120);
        while !condition().await {
            assert!(Instant::now() < until, "waited for 120 s: {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn usage(&self) -> Usage {
        let pid = self.process.id().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // Ticks are hundredths of a second on every Linux that this runs on; pages have 4 KiB.
        let ticks = |index: usize| fields[index].parse::<f64>().unwrap() / 100.0;
        Usage { user: ticks(11), system: ticks(12), resident: fields[21].parse::<f64>().unwrap() * 4.0 / 1024.0 }
    }

    pub async fn stop(mut self) {
        self.process.kill().await.unwrap();
    }
}
