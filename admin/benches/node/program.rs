//! The real binary, and what its metrics say.

use std::path::Path;

use carillon_testkit::{ApiClient, Program, ProgramSettings, wait_for};
use reqwest::Method;
use serde_json::{Value, json};

/// Without a binary: that of this build. Without a URL: SQLite in the folder.
pub fn settings(binary: Option<&Path>, folder: &Path, database_url: Option<&str>) -> ProgramSettings {
    let binary = binary.unwrap_or(Path::new(env!("CARGO_BIN_EXE_carillon")));
    // Runs that fail are not logged: each would be a line.
    let log = "error,carillon_admin::server=info";
    let settings = ProgramSettings::new(binary, folder).env("RUST_LOG", log);
    // One app has all jobs, and one client makes them.
    let settings = settings.env("CARILLON_APP_JOBS", "100000000").env("CARILLON_REQUEST_RATE", "100000");
    match database_url {
        // Not as a flag: the list of processes would show its password.
        Some(url) => settings.env("CARILLON_DATABASE_URL", url),
        None => settings,
    }
}

/// Starts it and waits until it is ready.
pub async fn start(settings: &mut ProgramSettings) -> (Program, ApiClient) {
    let node = settings.start().await;
    let api = node.api();
    wait_for("it is ready", async || api.send(api.at(Method::GET, "readyz")).await.status == 200).await;
    (node, api)
}

/// How long the rounds of the scans took at most, as far as the steps of the histogram tell.
pub async fn print_scans(api: &ApiClient) {
    let metrics = api.metrics().await;
    let value = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name));
    let all = value("carillon_scan_duration_seconds_count ").unwrap();
    let within = |step: &&&str| value(&format!("carillon_scan_duration_seconds_bucket{{le=\"{step}\"}} ")) == Some(all);
    let steps = ["0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "15", "60"];
    let longest = steps.iter().find(within).unwrap_or(&"more than 60");
    println!("rounds of scans        {all}, none longer than {longest} s");
}

/// Jobs of an app, each with the schedule of its number.
pub async fn create_jobs(api: &ApiClient, app: &str, count: usize, schedule: impl Fn(usize) -> Value) {
    let job = |n: usize| json!({"app": app, "name": format!("job {n}"), "handler": "bench", "schedule": schedule(n)});
    for first in (0..count).step_by(1000) {
        api.post("jobs:batch", (first..count.min(first + 1000)).map(job).collect()).await.ok();
    }
}
