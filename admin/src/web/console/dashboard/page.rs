//! `GET /`: failures, the next fires, and the first steps of an empty installation.

use std::collections::HashMap;

use actix_web::{HttpRequest, web};
use askama::Template;
use carillon_scheduler::RunState;
use carillon_store::lease::nodes::Node;
use carillon_store::run::view::dashboard::{FailingJob, PausedByEngine};
use carillon_store::{App, JobFilter, NextFire, RunFilter, VisibleApps};
use serde::Deserialize;

use crate::web::console::dashboard::chart::{Chart, PERIODS, chart};
use crate::web::console::runs::row::RunRow;
use crate::web::page::{PageContext, PageError, PageResult, console_address, show};
use crate::web::state::{Shared, State};

const DAY_MS: i64 = 86_400_000;
/// A node without a heartbeat for this long is not shown.
const NODE_MS: i64 = 15_000;
const COUNTED: u32 = 10_000;
const LIST: usize = 8;

/// The first steps of a new installation, done or not.
struct SetupSteps {
    /// The address of this node for executors: that of the reader's browser.
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

struct FailingRow {
    failing: FailingJob,
    row: RunRow,
}

struct NodeRow {
    node: Node,
    shards: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ChartQuery {
    /// A word of [`PERIODS`].
    runs: String,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Page {
    context: PageContext,
    steps: Option<SetupSteps>,
    enabled: String,
    paused: String,
    runs: String,
    failed: i64,
    running: i64,
    online: usize,
    known: usize,
    chart: Option<Chart>,
    /// Of the chart.
    period: &'static str,
    periods: [(&'static str, &'static str, i64, i64); 4],
    failing_jobs: Vec<FailingRow>,
    next: Vec<NextFire>,
    nodes: Vec<NodeRow>,
    all_shards: i32,
    /// Apps in use without an executor.
    apps_without_executor: Vec<String>,
    /// Names of executors that no app has.
    unknown_apps: Vec<String>,
    stuck: Vec<PausedByEngine>,
}

impl Page {
    /// Whether there is no job and no run to show yet.
    fn is_new(&self) -> bool {
        let steps = self.steps.as_ref();
        steps.is_some_and(|steps| steps.job.is_none() && !steps.run)
    }

    /// More nodes than shards.
    fn has_idle_nodes(&self) -> bool {
        self.nodes.len() as i64 > i64::from(self.all_shards)
    }

    /// The key of the name of the chart's period.
    fn span(&self) -> &'static str {
        let chosen =
            self.periods.iter().find(|(word, ..)| *word == self.period).map_or("period-recent", |(_, name, ..)| name);
        self.chart.as_ref().map_or(chosen, |chart| chart.span)
    }

    /// Whether they differ in their version or time zone data.
    fn nodes_differ(&self) -> bool {
        self.nodes.windows(2).any(|pair| pair[0].node.version != pair[1].node.version)
    }
}

/// `GET /`
pub async fn page(
    state: Shared,
    request: HttpRequest,
    context: PageContext,
    query: web::Query<ChartQuery>,
) -> PageResult {
    let store = &state.store;
    let now = context.now;
    let visible = &context.visible();
    let period = PERIODS.iter().find(|(word, ..)| *word == query.runs).map_or("", |(word, ..)| word);
    // Each of them walks over the newest runs.
    let ((states, is_cut), chart, failing_jobs) = tokio::try_join!(
        async { Ok(store.recent_states(now - DAY_MS, visible).await?) },
        chart(&state, now, period, visible),
        failing_jobs(&state, &context)
    )?;
    let executors = store.visible_executors(visible).await?;
    let live: Vec<&str> = executors.iter().filter(|it| it.is_live(now)).map(|it| it.app.as_str()).collect();
    let mut apps_without_executor = store.apps_in_use(visible).await?;
    apps_without_executor.retain(|app| !live.contains(&app.as_str()));
    let apps = store.apps(visible).await?;
    let mut unknown_apps: Vec<String> = live.iter().map(ToString::to_string).collect();
    unknown_apps.retain(|name| !apps.iter().any(|app| app.name == *name));
    unknown_apps.dedup();
    let page = Page {
        steps: steps(&state, &context, &request, visible, &apps, !live.is_empty(), unknown_apps.first()).await?,
        enabled: count(&state, visible, true).await?,
        paused: count(&state, visible, false).await?,
        runs: format!("{}{}", states.values().sum::<i64>(), if is_cut { "+" } else { "" }),
        failed: sum(&states, &[RunState::Failed, RunState::Lost]),
        running: open_runs(&state, visible).await?,
        online: live.len(),
        known: executors.len(),
        chart,
        period,
        periods: PERIODS,
        failing_jobs,
        next: store.next_fires(state.engine.shards(), LIST, now, visible).await?,
        nodes: if context.may_see_installation() { nodes(&state, now).await? } else { vec![] },
        all_shards: state.engine.shards(),
        apps_without_executor,
        unknown_apps,
        stuck: store.paused_by_engine(LIST as i64, visible).await?,
        context,
    };
    Ok(show(&page))
}

fn sum(states: &HashMap<RunState, i64>, of: &[RunState]) -> i64 {
    of.iter().filter_map(|state| states.get(state)).sum()
}

async fn count(state: &State, visible: &VisibleApps, enabled: bool) -> Result<String, PageError> {
    let filter = JobFilter { apps: visible.clone(), enabled: Some(enabled), ..JobFilter::default() };
    let count = state.store.count_jobs(&filter, COUNTED).await?;
    Ok(match count {
        COUNTED.. => "10,000+".to_owned(),
        _ => count.to_string(),
    })
}

async fn open_runs(state: &State, visible: &VisibleApps) -> Result<i64, PageError> {
    let filter =
        RunFilter { apps: visible.clone(), states: vec![RunState::Sending, RunState::Running], ..RunFilter::default() };
    let (counts, _) = state.store.count_runs_by_state(&filter).await?;
    Ok(counts.iter().map(|(_, count)| count).sum())
}

async fn failing_jobs(state: &State, context: &PageContext) -> Result<Vec<FailingRow>, PageError> {
    let mut failing_jobs = vec![];
    for failing in state.store.failing_jobs(LIST, &context.visible()).await? {
        if let Some(run) = state.store.run(failing.last_run).await? {
            let row = RunRow::new(context, run);
            failing_jobs.push(FailingRow { failing, row });
        }
    }
    Ok(failing_jobs)
}

async fn nodes(state: &State, now: i64) -> Result<Vec<NodeRow>, PageError> {
    let leases = state.store.leases().await?;
    let live = state.store.live_nodes(now - NODE_MS).await?;
    let rows = live.into_iter().map(|node| {
        let held = leases.iter().filter(|it| it.owner == node.id && it.expires_at > now);
        NodeRow { shards: held.map(|lease| lease.shard.to_string()).collect(), node }
    });
    Ok(rows.collect())
}

/// None: all steps are done.
/// For those who can take them.
async fn steps(
    state: &State,
    context: &PageContext,
    request: &HttpRequest,
    visible: &VisibleApps,
    apps: &[App],
    executor: bool,
    unknown_app: Option<&String>,
) -> Result<Option<SetupSteps>, PageError> {
    let jobs = JobFilter { apps: visible.clone(), limit: 1, ..JobFilter::default() };
    let job = state.store.jobs(&jobs).await?.items.first().map(|job| job.id);
    let run = state.store.newest_run().await? > 0;
    if job.is_some() && run || !context.may_administer_installation() {
        return Ok(None);
    }
    let file = state.config.data_dir.join("access-token");
    Ok(Some(SetupSteps {
        address: console_address(state, request),
        token_file: file.exists().then(|| file.display().to_string()),
        executor,
        unknown_app: unknown_app.cloned(),
        app: apps.first().map(|app| app.name.clone()),
        job,
        run,
    }))
}
