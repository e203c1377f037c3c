//! Jobs as files, with the real binary against a node.

mod apply;
mod conflict;
mod drift;
mod http;
mod limits;
mod loops;
mod policy;
mod prune;
mod round_trip;
mod wire;
mod workflow;

use std::fs;
use std::path::Path;

use carillon_testkit::ApiClient;
use serde_json::{Value, json};

use crate::program::{carillon, ended};

/// Exit code, standard output, standard error.
type Ended = (Option<i32>, String, String);

/// `carillon …` as a client of this server.
async fn command(url: &str, token: &str, arguments: &[&str]) -> Ended {
    let mut command = carillon(arguments);
    command.env("CARILLON_SERVER", url).env("CARILLON_TOKEN", token);
    tokio::task::spawn_blocking(move || ended(command)).await.unwrap()
}

async fn run(api: &ApiClient, arguments: &[&str]) -> Ended {
    command(api.url(), &api.token, arguments).await
}

/// What it prints; it ends with this code.
async fn printed(api: &ApiClient, code: i32, arguments: &[&str]) -> String {
    let (ended, out, err) = run(api, arguments).await;
    assert_eq!(ended, Some(code), "{out}\n{err}");
    out
}

/// What it is refused with.
async fn refused(api: &ApiClient, arguments: &[&str]) -> String {
    let (code, out, err) = run(api, arguments).await;
    assert_eq!((code, &*out), (Some(1), ""), "{err}");
    err
}

/// Writes a file of the set `billing` with these jobs and answers its path.
fn file(folder: &Path, jobs: &str) -> String {
    let path = folder.join("billing.yaml");
    let head = "format: 1\nset: billing\napps:\n  - {name: billing, title: Billing}\njobs:\n";
    fs::write(&path, format!("{head}{jobs}")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The line of a job with a key and a few members.
fn line(key: &str, more: &str) -> String {
    format!("  - {{app: billing, key: {key}, name: Job {key}, handler: h{more}}}\n")
}

async fn with_key(api: &ApiClient, key: &str) -> Value {
    let app =
        api.get("/apps").await.ok()["items"].as_array().unwrap().iter().find(|app| app["name"] == "billing").cloned();
    let app = app.unwrap_or(json!({"id": 0}));
    api.get(&format!("/apps/{}/jobs/{key}", app["id"])).await.json
}
