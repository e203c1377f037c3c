//! `GET /`: is anything wrong, what runs next, and the first steps of an empty installation.

use std::collections::HashMap;

use actix_web::http::StatusCode;
use actix_web::http::header::HOST;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::RunState;

use super::chart::{Chart, chart};
use super::problem::Problem;
use super::runs::Row;
use crate::store::node::Node;
use crate::store::overview::{Failing, PausedByEngine};
use crate::store::{App, JobFilter, NextFire, RunFilter};
use crate::web::State;
use crate::web::html::{self, Frame};

const DAY_MS: i64 = 86_400_000;
/// A node that was not seen for so long is gone.
const NODE_MS: i64 = 15_000;
const COUNTED: u32 = 10_000;
const LIST: usize = 8;

/// How far a new installation has come.
struct Steps {
    /// Where executors find this node, as the reader's browser does.
    address: String,
    /// The file that holds the access token; None: it was given as a setting.
    token_file: Option<String>,
    executor: bool,
    /// Executors wait for an app of this name.
    unknown_app: Option<String>,
    app: Option<String>,
    job: Option<i64>,
    run: bool,
}

struct Trouble {
    failing: Failing,
    row: Row,
}

struct NodeRow {
    node: Node,
    shards: Vec<String>,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Page {
    frame: Frame,
    steps: Option<Steps>,
    enabled: String,
    paused: String,
    runs: String,
    failed: i64,
    running: i64,
    online: usize,
    known: usize,
    chart: Option<Chart>,
    troubles: Vec<Trouble>,
    next: Vec<NextFire>,
    nodes: Vec<NodeRow>,
    all_shards: i32,
    /// Apps in use without an executor.
    lonely_apps: Vec<String>,
    /// Names of executors that no app has.
    unknown_apps: Vec<String>,
    stuck: Vec<PausedByEngine>,
}

impl Page {
    /// Nothing is there yet that could be shown.
    fn is_new(&self) -> bool {
        let steps = self.steps.as_ref();
        steps.is_some_and(|steps| steps.job.is_none() && !steps.run)
    }

    /// More nodes than shards.
    fn has_idle_nodes(&self) -> bool {
        self.nodes.len() as i64 > i64::from(self.all_shards)
    }

    /// In their version, or in the time zones that they reckon with.
    fn nodes_differ(&self) -> bool {
        self.nodes.windows(2).any(|pair| pair[0].node.version != pair[1].node.version)
    }
}

/// `GET /`
pub async fn page(state: web::Data<State>, request: HttpRequest, frame: Frame) -> Result<HttpResponse, Problem> {
    let store = &state.store;
    let now = frame.now;
    let (states, is_cut) = store.recent_states(now - DAY_MS).await?;
    let executors = store.executors().await?;
    let live: Vec<&str> = executors.iter().filter(|it| it.is_live(now)).map(|it| it.app.as_str()).collect();
    let mut lonely_apps = store.apps_in_use().await?;
    lonely_apps.retain(|app| !live.contains(&app.as_str()));
    let apps = store.apps().await?;
    let mut unknown_apps: Vec<String> = live.iter().map(ToString::to_string).collect();
    unknown_apps.retain(|name| !apps.iter().any(|app| app.name == *name));
    unknown_apps.dedup();
    let page = Page {
        steps: steps(&state, &request, &apps, !live.is_empty(), unknown_apps.first()).await?,
        enabled: count(&state, true).await?,
        paused: count(&state, false).await?,
        runs: format!("{}{}", states.values().sum::<i64>(), if is_cut { "+" } else { "" }),
        failed: sum(&states, &[RunState::Failed, RunState::Lost]),
        running: open_runs(&state).await?,
        online: live.len(),
        known: executors.len(),
        chart: chart(&state, now).await?,
        troubles: troubles(&state, now).await?,
        next: store.next_fires(state.pipeline.shards(), LIST, now).await?,
        nodes: nodes(&state, now).await?,
        all_shards: state.pipeline.shards(),
        lonely_apps,
        unknown_apps,
        stuck: store.paused_by_engine(LIST as i64).await?,
        frame,
    };
    Ok(html::page(&page, StatusCode::OK))
}

fn sum(states: &HashMap<RunState, i64>, of: &[RunState]) -> i64 {
    of.iter().filter_map(|state| states.get(state)).sum()
}

async fn count(state: &State, enabled: bool) -> Result<String, Problem> {
    let filter = JobFilter { enabled: Some(enabled), ..JobFilter::default() };
    let count = state.store.count_jobs(&filter, COUNTED).await?;
    Ok(match count {
        COUNTED.. => "10,000+".to_owned(),
        _ => count.to_string(),
    })
}

async fn open_runs(state: &State) -> Result<i64, Problem> {
    let filter = RunFilter { states: vec![RunState::Sending, RunState::Running], ..RunFilter::default() };
    let (counts, _) = state.store.count_runs_by_state(&filter).await?;
    Ok(counts.iter().map(|(_, count)| count).sum())
}

async fn troubles(state: &State, now: i64) -> Result<Vec<Trouble>, Problem> {
    let mut troubles = vec![];
    for failing in state.store.failing_jobs(LIST).await? {
        if let Some(run) = state.store.run(failing.last_run).await? {
            let row = Row::of(run, now);
            troubles.push(Trouble { failing, row });
        }
    }
    Ok(troubles)
}

async fn nodes(state: &State, now: i64) -> Result<Vec<NodeRow>, Problem> {
    let leases = state.store.leases().await?;
    let live = state.store.live_nodes(now - NODE_MS).await?;
    let rows = live.into_iter().map(|node| {
        let held = leases.iter().filter(|it| it.owner == node.id && it.expires_at > now);
        NodeRow { shards: held.map(|lease| lease.shard.to_string()).collect(), node }
    });
    Ok(rows.collect())
}

/// None: the first steps are behind.
async fn steps(
    state: &State,
    request: &HttpRequest,
    apps: &[App],
    executor: bool,
    unknown_app: Option<&String>,
) -> Result<Option<Steps>, Problem> {
    let jobs = JobFilter { limit: 1, ..JobFilter::default() };
    let job = state.store.jobs(&jobs).await?.items.first().map(|job| job.id);
    let run = state.store.newest_run().await? > 0;
    if job.is_some() && run {
        return Ok(None);
    }
    let file = state.config.data_dir.join("access-token");
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    Ok(Some(Steps {
        address: format!("http://{}", host.unwrap_or("localhost:8080")),
        token_file: file.exists().then(|| file.display().to_string()),
        executor,
        unknown_app: unknown_app.cloned(),
        app: apps.first().map(|app| app.name.clone()),
        job,
        run,
    }))
}
