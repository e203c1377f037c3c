//! The workflow and the HTTP job of `carillon demo`.

use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_testkit::{ApiClient, Process, wait_for};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::program::carillon;

/// The states of the nodes of a run that is begun with these parameters, and its state, once it has ended.
async fn outcome(api: &ApiClient, job: &serde_json::Value, params: &str) -> (String, String) {
    let run = api.post(&format!("jobs/{job}/run"), json!({"params": params})).await.ok();
    let state = async || api.get(&format!("runs/{}", run["id"])).await.ok()["state"].as_str().unwrap().to_owned();
    wait_for("the workflow has ended", async || ["succeeded", "failed"].contains(&&*state().await)).await;
    let nodes = api.get(&format!("runs/{}/workflow", run["id"])).await.ok();
    let nodes = nodes["nodes"].as_array().unwrap();
    let nodes =
        nodes.iter().map(|node| format!("{} {}", node["name"].as_str().unwrap(), node["state"].as_str().unwrap()));
    (state().await, nodes.collect::<Vec<_>>().join(", "))
}

// covers: 004-9
#[tokio::test]
async fn the_workflow_of_the_demo_takes_a_branch_joins_and_handles_a_failure() {
    let token = random_secret();
    let mut demo = Process::spawn(carillon(&["demo", "--listen", "127.0.0.1:0", "--api-token", &token]));
    let text = demo.after("one of them a workflow: ").await;
    assert_eq!(text.trim(), "Load the orders; one more is declared by the executors");
    let console = demo.after("  console    ").await;
    let api = ApiClient::new([console.trim_end_matches('/')], &token, Duration::from_secs(10));
    let jobs = api.get("jobs").await.ok();
    let job =
        jobs["items"].as_array().unwrap().iter().find(|job| job["name"] == "Load the orders").unwrap()["id"].clone();
    let executors = async || api.get("runs?state=succeeded").await.ok()["items"].as_array().unwrap().len();
    wait_for("an executor takes runs", async || executors().await > 0).await;
    for (params, state, nodes) in [
        ("5", "succeeded", "extract succeeded, load succeeded, none skipped, report succeeded, page skipped"),
        ("0", "succeeded", "extract succeeded, load skipped, none succeeded, report succeeded, page skipped"),
        ("3", "failed", "extract succeeded, load failed, none skipped, report upstream_failed, page succeeded"),
    ] {
        assert_eq!(outcome(&api, &job, params).await, (state.to_owned(), nodes.to_owned()), "{params}");
    }
    assert_eq!(demo.terminate(Duration::from_secs(15)).await.code(), Some(0));
}

/// The HTTP job of a demo.
async fn http_job(api: &ApiClient) -> Value {
    let jobs = api.get("jobs").await.ok();
    jobs["items"].as_array().unwrap().iter().find(|job| !job["http"].is_null()).unwrap().clone()
}

// covers: 001-44
#[tokio::test]
async fn the_http_job_of_the_demo_calls_a_page_of_the_demo_after_each_start() {
    let (token, folder) = (random_secret(), tempdir().unwrap());
    for _start in 0..2 {
        let mut command = carillon(&["demo", "--listen", "127.0.0.1:0", "--api-token", &token]);
        command.arg("--data-dir").arg(folder.path());
        let mut demo = Process::spawn(command);
        let console = demo.after("  console    ").await;
        let page = demo.after("  HTTP page  ").await.trim().to_owned();
        let api = ApiClient::new([console.trim_end_matches('/')], &token, Duration::from_secs(10));
        let job = http_job(&api).await;
        assert_eq!(job["http"]["url"], page);
        let run = api.post(&format!("jobs/{}/run", job["id"]), json!({})).await.ok();
        let state = async || api.get(&format!("runs/{}", run["id"])).await.ok()["state"].clone();
        wait_for("the request was answered", async || state().await == "succeeded").await;
        let shown = reqwest::get(&page).await.unwrap().text().await.unwrap();
        assert!(shown.contains(&format!("\"run\": {}}}", run["id"])), "{shown}");
        assert_eq!(demo.terminate(Duration::from_secs(15)).await.code(), Some(0));
    }
}
