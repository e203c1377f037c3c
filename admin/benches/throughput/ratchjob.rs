//! ratch-job, a scheduler for executors of xxl-job that is written in Rust: built from the registry, and run with its defaults.
//!
//! ratch-job listens on all addresses and has no setting for that; its API asks for no token. The process ends after the measurement.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use carillon_testkit::{AdminClient, ApiClient, Process, free_port};
use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::json;
use tempfile::TempDir;

pub const VERSION: &str = "0.3.1";
/// Requests at once that create jobs.
const AT_ONCE: usize = 16;

pub struct RatchJob {
    pub process: Process,
    url: String,
    token: String,
    _folder: TempDir,
}

/// Where the binary is; built if it is not there yet.
pub fn build() -> Result<PathBuf, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/ratchjob");
    let output = Command::new(script).arg(VERSION).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().into()),
        Ok(output) => Err(format!("its build ended with {}", output.status)),
        Err(error) => Err(format!("{script}: {error}")),
    }
}

impl RatchJob {
    pub async fn start(binary: &Path) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let secret = || format!("{:032x}", rand::random::<u128>());
        let token = secret();
        let mut command = Command::new(binary);
        command
            .current_dir(folder.path())
            .env("RUST_LOG", "error")
            .env("RATCH_DATA_DIR", folder.path().join("data"))
            .env("RATCH_HTTP_API_PORT", port.to_string())
            .env("RATCH_HTTP_CONSOLE_PORT", free_port().to_string())
            .env("RATCH_GRPC_CLUSTER_PORT", free_port().to_string())
            .env("RATCH_XXL_DEFAULT_ACCESS_TOKEN", &token)
            .env("RATCH_INIT_ADMIN_PASSWORD", secret())
            .stdin(Stdio::null());
        let process = Process::spawn(command);
        process.after("ratch-job started").await;
        Self { process, url: format!("http://127.0.0.1:{port}"), token, _folder: folder }
    }

    /// What executors call.
    pub fn admin(&self) -> AdminClient {
        AdminClient::new([format!("{}/xxl-job-admin", self.url)], &self.token)
    }

    pub async fn create_jobs(&self, count: usize) {
        let api = ApiClient::new([&self.url], "", Duration::from_secs(30));
        let create = async |number: usize| {
            let job = json!({
                "appName": "bench",
                "namespace": "xxl",
                "description": format!("job {number}"),
                "handleName": "bench",
                "scheduleType": "CRON",
                "cronValue": "* * * * * *",
                "blockingStrategy": "SERIAL_EXECUTION",
                "enable": true,
            });
            let answer = api.send(api.at(Method::POST, "ratch/v1/job/create").json(&job)).await;
            assert_eq!(answer.json["code"], 200, "{}", answer.json);
        };
        stream::iter(0..count).map(create).buffer_unordered(AT_ONCE).collect::<()>().await;
    }
}
