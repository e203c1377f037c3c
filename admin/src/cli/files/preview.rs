//! What the server says about a plan before anything is written: wrong members, and instants that appear and disappear.

use std::collections::BTreeSet;

use carillon_files::document::{Fault, JobEntry};
use carillon_files::live::Live;
use carillon_files::plan::{Change, InstantChange, JobChange, Plan};
use carillon_scheduler::{Clock as _, Millis, SystemClock};
use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::client::{Client, RequestError};
use crate::cli::arguments::format_time;

/// How far the instants are compared.
const DAYS_MS: Millis = 7 * 24 * 60 * 60 * 1000;
/// Instants of one job that are compared.
const MOST: usize = 10_000;
/// Instants of one answer.
const PAGE: usize = 1000;
/// Requests at a time.
const TOGETHER: usize = 4;

/// Has each new and changed job checked. `with_instants`: compares the instants too.
///
/// # Errors
/// All faults that the server finds; or it does not answer.
pub async fn check(client: &Client, live: &Live, plan: &mut Plan, with_instants: bool) -> anyhow::Result<Vec<Fault>> {
    let now = SystemClock::new().now();
    let checks = plan.jobs_mut().map(|job| async move {
        let window = (with_instants && job.moves_instants()).then_some(now);
        let checked = check_job(client, live, job, window).await;
        (job, checked)
    });
    let mut checked = futures_util::stream::iter(checks).buffered(TOGETHER);
    let mut faults = vec![];
    while let Some((job, checked)) = checked.next().await {
        match checked {
            Ok(instants) => job.instants = instants,
            Err(error) => {
                let found = error.faults().iter().filter_map(|(member, message)| job.fault(member, message));
                let found: Vec<Fault> = found.collect();
                if found.is_empty() {
                    return Err(error.into());
                }
                faults.extend(found);
            }
        }
    }
    Ok(faults)
}

async fn check_job(
    client: &Client,
    live: &Live,
    job: &JobChange,
    window: Option<Millis>,
) -> Result<Option<InstantChange>, RequestError> {
    let draft = job.body.as_ref().map(|body| preview_body(live, job, body));
    let Some(now) = window else {
        if let Some(mut draft) = draft {
            draft.insert("count".to_owned(), json!(1));
            client.send(Method::POST, "/preview", Some(&draft.into())).await?;
        }
        return Ok(None);
    };
    let before = match job.before {
        Some((id, _)) if live.by_id(id).is_some_and(|job| job.draft.enabled) => {
            walk(now, async |from: &str| client.get(&format!("/jobs/{id}/next?count={PAGE}&from={from}")).await).await?
        }
        _ => vec![],
    };
    let after = match draft {
        None => vec![],
        Some(draft) => {
            let is_enabled = job.body.as_ref().is_none_or(|body| body["enabled"] != false);
            let ask = async |from: &str| {
                let mut body = draft.clone();
                body.extend([("from".to_owned(), json!(from)), ("count".to_owned(), json!(PAGE))]);
                client.send(Method::POST, "/preview", Some(&body.into())).await
            };
            let instants = walk(now, ask).await?;
            if is_enabled { instants } else { vec![] }
        }
    };
    Ok(Some(InstantChange::between(&before, &after, MOST)))
}

/// What `/preview` takes. The server cannot check a job of an app that does not exist yet as a whole, nor children and jobs of nodes
/// that do not.
fn preview_body(live: &Live, job: &JobChange, body: &Map<String, Value>) -> Map<String, Value> {
    if live.app(&job.reference.app).is_none() {
        return Map::from_iter([("schedule".to_owned(), body["schedule"].clone())]);
    }
    let children = job.children.iter().filter_map(|child| live.by_reference(child));
    let children: Vec<i64> = children.map(|child| child.id).collect();
    let mut body = body.clone();
    body.insert("children".to_owned(), json!(children));
    let nodes = job.entry.iter().flat_map(JobEntry::nodes);
    let known = nodes.filter(|(_, job)| live.by_reference(job).is_some()).map(|(node, _)| node.to_owned());
    reduce_graph(&mut body, &known.collect());
    if let (Change::Update, Some((id, _))) = (job.change, job.before) {
        body.insert("job_id".to_owned(), json!(id));
    }
    body
}

/// A graph whose nodes are not all known becomes these nodes without their edges, which were checked before. Without a node a handler
/// stands in its place.
fn reduce_graph(body: &mut Map<String, Value>, known: &BTreeSet<String>) {
    let Some(nodes) = body.get("workflow").and_then(|graph| graph["nodes"].as_object()) else { return };
    if nodes.len() == known.len() {
        return;
    }
    let nodes = nodes.iter().filter(|(name, _)| known.contains(*name));
    let nodes: Map<String, Value> = nodes.map(|(name, node)| (name.clone(), json!({"job": node["job"]}))).collect();
    match nodes.is_empty() {
        true => {
            body.remove("workflow");
            body.insert("handler".to_owned(), json!("workflow"));
        }
        false => body["workflow"] = json!({"nodes": nodes}),
    }
}

/// The instants of the coming days, page by page.
async fn walk(
    now: Millis,
    page: impl AsyncFn(&str) -> Result<Value, RequestError>,
) -> Result<Vec<String>, RequestError> {
    let (mut from, end) = (format_time(now), format_time(now + DAYS_MS));
    let mut instants: Vec<String> = vec![];
    loop {
        let answer = page(&from).await?;
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        let new = items.iter().filter_map(Value::as_str);
        let (count, known) = (items.len(), instants.len());
        instants.extend(new.take_while(|at| *at < &*end).map(str::to_owned));
        let is_whole_page = count == PAGE && instants.len() == known + count;
        if !is_whole_page || instants.len() >= MOST {
            instants.truncate(MOST);
            return Ok(instants);
        }
        from = instants.last().cloned().unwrap_or(from);
    }
}
