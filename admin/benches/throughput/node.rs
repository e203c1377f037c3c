//! The real binary as a process of its own, and what the system says it has used.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::Options;

pub struct Node {
    pub url: String,
    pub token: String,
    api_token: String,
    process: Child,
    client: reqwest::Client,
    _folder: tempfile::TempDir,
}

/// CPU seconds (user, system) and resident memory in MiB.
pub struct Usage {
    pub user: f64,
    pub system: f64,
    pub resident: f64,
}

impl Node {
    pub async fn start(options: &Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let (token, api_token) = (random(), random());
        let mut command = Command::new(env!("CARGO_BIN_EXE_carillon"));
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--access-token", &token, "--api-token", &api_token])
            .arg("--data-dir")
            .arg(folder.path())
            .arg(format!("--shards={}", options.shards))
            .arg(format!("--look-ahead={}s", options.look_ahead))
            .env("RUST_LOG", "error")
            .stdout(Stdio::null())
            .kill_on_drop(true);
        if let Some(url) = &options.database_url {
            command.args(["--database-url", url]);
        }
        let process = command.spawn().unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let node = Self {
            url: format!("http://127.0.0.1:{port}"),
            token,
            api_token,
            process,
            client,
            _folder: folder,
        };
        node.wait_for("it is ready", async || {
            node.client
                .get(format!("{}/readyz", node.url))
                .send()
                .await
                .is_ok_and(|a| a.status() == 200)
        })
        .await;
        for app in ["bench", "flood", "failing"] {
            node.call("apps", &json!({"name": app})).await;
        }
        node
    }

    /// Registered within the first round of a heartbeat; the pause covers the copy in memory.
    pub async fn wait_for_executors(&self) {
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }

    async fn metrics(&self) -> String {
        let metrics = self
            .client
            .get(format!("{}/metrics", self.url))
            .bearer_auth(&self.api_token);
        metrics.send().await.unwrap().text().await.unwrap()
    }

    /// How long the rounds of the scans took at most, as far as the steps of the histogram tell.
    pub async fn print_scans(&self) {
        let metrics = self.metrics().await;
        let value = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name));
        let all = value("carillon_scan_duration_seconds_count ").unwrap();
        let within = |step: &&&str| {
            value(&format!(
                "carillon_scan_duration_seconds_bucket{{le=\"{step}\"}} "
            )) == Some(all)
        };
        let steps = ["0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "15", "60"];
        let longest = steps.iter().find(within).unwrap_or(&"more than 60");
        println!("rounds of scans        {all}, none longer than {longest} s");
    }

    /// Jobs that fire together, each so many seconds.
    pub async fn create_jobs(&self, app: &str, count: usize, every: u64) {
        let schedule = match every {
            1 => json!({"kind": "fixed_rate", "seconds": 1}),
            _ => {
                json!({"kind": "cron", "expression": format!("0/{every} * * * * ?"), "timezone": "UTC"})
            }
        };
        for first in (0..count).step_by(1000) {
            let job = |n: usize| json!({"app": app, "name": format!("job {n}"), "handler": "bench", "schedule": schedule});
            let jobs: Vec<Value> = (first..count.min(first + 1000)).map(job).collect();
            self.call("jobs:batch", &json!(jobs)).await;
        }
    }

    async fn call(&self, path: &str, body: &Value) {
        let call = self
            .client
            .post(format!("{}/api/v1/{path}", self.url))
            .bearer_auth(&self.api_token)
            .json(body);
        let answer = call.send().await.unwrap();
        assert!(
            answer.status().is_success(),
            "{path}: {}",
            answer.text().await.unwrap()
        );
    }

    async fn wait_for(&self, what: &str, condition: impl AsyncFn() -> bool) {
        for _ in 0..200 {
            if condition().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("in vain: {what}");
    }

    pub fn usage(&self) -> Usage {
        let pid = self.process.id().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        // Ticks are hundredths of a second on every Linux that this runs on; pages have 4 KiB.
        let ticks = |index: usize| fields[index].parse::<f64>().unwrap() / 100.0;
        Usage {
            user: ticks(11),
            system: ticks(12),
            resident: fields[21].parse::<f64>().unwrap() * 4.0 / 1024.0,
        }
    }

    pub async fn stop(mut self) {
        self.process.kill().await.unwrap();
    }
}

fn random() -> String {
    format!("{:032x}", rand::random::<u128>())
}
