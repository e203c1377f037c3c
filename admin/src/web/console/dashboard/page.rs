//! `GET /`: failures, the next fires, and the first steps of an empty installation.

use actix_web::HttpRequest;
use actix_web::web::Query;
use askama::Template;
use carillon_scheduler::RunState;
use carillon_store::alert::alerts::AlertFilter;
use carillon_store::lease::nodes::Node;
use carillon_store::report::counts::Counts;
use carillon_store::run::view::dashboard::{PausedByEngine, RecentRuns};
use carillon_store::{App, JobFilter, NextFire, RunFilter, VisibleApps};
use serde::Deserialize;

use crate::web::console::dashboard::chart::{Chart, PERIODS, chart};
use crate::web::console::dashboard::failing::{FailingJobs, failing_jobs};
use crate::web::locale::grouped;
use crate::web::page::{PageContext, PageError, PageResult, console_address, show};
use crate::web::state::{Shared, State};

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;
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
    runs: i64,
    failed: i64,
    running: i64,
    online: usize,
    known: usize,
    chart: Option<Chart>,
    /// Of the chart.
    period: &'static str,
    periods: [(&'static str, &'static str, i64, i64); 4],
    failing: FailingJobs,
    may_rerun: bool,
    next: Vec<NextFire>,
    nodes: Vec<NodeRow>,
    all_shards: i32,
    /// Apps in use without an executor; true: their runs wait for executors that have not registered again yet.
    apps_without_executor: Vec<(String, bool)>,
    /// Names of executors that no app has.
    unknown_apps: Vec<String>,
    stuck: Vec<PausedByEngine>,
    /// Runs that were sent late, or wait to be.
    late: i64,
    /// When the last of them was due.
    last_late_at: Option<i64>,
    /// Open alerts.
    alerts: usize,
}

impl Page {
    /// Whether there is no job and no run to show yet.
    fn is_new(&self) -> bool {
        let steps = self.steps.as_ref();
        steps.is_some_and(|steps| steps.job.is_none() && !steps.run)
    }

    fn has_trouble(&self) -> bool {
        let is_quiet = self.apps_without_executor.is_empty() && self.unknown_apps.is_empty() && self.stuck.is_empty();
        !is_quiet || self.late > 0 || self.alerts > 0
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
pub async fn page(state: Shared, request: HttpRequest, context: PageContext, query: Query<ChartQuery>) -> PageResult {
    let store = &state.store;
    let now = context.now;
    let visible = &context.visible();
    let period = PERIODS.iter().find(|(word, ..)| *word == query.runs).map_or("", |(word, ..)| word);
    let late = state.config.engine.flag_after.as_millis() as i64;
    // Each of them walks over the newest runs.
    let (recent, chart, failing) = tokio::try_join!(
        async { Ok(store.runs().recent(now - DAY_MS, late, now, visible).await?) },
        chart(&state, now, period, visible),
        failing_jobs(&state, &context)
    )?;
    let (runs, failed) = last_day(&state, &recent, now, visible).await?;
    let executors = store.apps().visible_executors(visible).await?;
    let live: Vec<&str> = executors.iter().filter(|it| it.is_live(now)).map(|it| it.app.as_str()).collect();
    let mut without_executor = store.runs().apps_in_use(visible).await?;
    without_executor.retain(|app| !live.contains(&app.as_str()));
    let with_wait = |app: String| {
        let waits = state.engine.waits_for_executors(&app);
        (app, waits)
    };
    let apps_without_executor = without_executor.into_iter().map(with_wait).collect();
    let apps = store.apps().list(visible).await?;
    let mut unknown_apps: Vec<String> = live.iter().map(ToString::to_string).collect();
    unknown_apps.retain(|name| !apps.iter().any(|app| app.name == *name));
    unknown_apps.dedup();
    let page = Page {
        steps: steps(&state, &context, &request, visible, &apps, !live.is_empty(), unknown_apps.first()).await?,
        enabled: count(&state, visible, true).await?,
        paused: count(&state, visible, false).await?,
        runs,
        failed,
        late: recent.late,
        last_late_at: recent.last_late_at,
        alerts: open_alerts(&state, visible).await?,
        running: open_runs(&state, visible).await?,
        online: live.len(),
        known: executors.len(),
        chart,
        period,
        periods: PERIODS,
        failing,
        may_rerun: apps.iter().any(|app| context.may_operate(&app.id)),
        next: store.jobs().next_fires(state.engine.shards(), LIST, now, visible).await?,
        nodes: if context.may_see_installation() { nodes(&state, now).await? } else { vec![] },
        all_shards: state.engine.shards(),
        apps_without_executor,
        unknown_apps,
        stuck: store.runs().paused_by_engine(LIST as i64, visible).await?,
        context,
    };
    Ok(show(&page))
}

/// Runs of the last 24 hours, and those that failed or were lost. Where the newest runs do not reach back as far, whole hours of
/// the reports are added up.
async fn last_day(
    state: &State,
    recent: &RecentRuns,
    now: i64,
    visible: &VisibleApps,
) -> Result<(i64, i64), PageError> {
    let of = |state: RunState| recent.states.get(&state).copied().unwrap_or(0);
    if !recent.is_cut {
        let all: i64 = recent.states.values().sum();
        return Ok((all, of(RunState::Failed) + of(RunState::Lost)));
    }
    let from = i32::try_from((now - DAY_MS).div_euclid(HOUR_MS) + 1).unwrap_or(i32::MAX);
    let hours = state.store.reports().hourly_counts(from, visible).await?;
    let mut counts = Counts::default();
    hours.iter().for_each(|(_, hour)| counts.add(hour));
    Ok((counts.all(), counts.bad()))
}

async fn open_alerts(state: &State, visible: &VisibleApps) -> Result<usize, PageError> {
    let filter = AlertFilter { apps: visible.clone(), open: Some(true), limit: 1000, ..AlertFilter::default() };
    Ok(state.store.alerts().list(&filter).await?.items.len())
}

async fn count(state: &State, visible: &VisibleApps, enabled: bool) -> Result<String, PageError> {
    let filter = JobFilter { apps: visible.clone(), enabled: Some(enabled), ..JobFilter::default() };
    let count = state.store.jobs().count(&filter, COUNTED).await?;
    Ok(match count {
        COUNTED.. => "10,000+".to_owned(),
        _ => grouped(count),
    })
}

async fn open_runs(state: &State, visible: &VisibleApps) -> Result<i64, PageError> {
    let filter =
        RunFilter { apps: visible.clone(), states: vec![RunState::Sending, RunState::Running], ..RunFilter::default() };
    let (counts, _) = state.store.runs().count_by_state(&filter).await?;
    Ok(counts.iter().map(|(_, count)| count).sum())
}

async fn nodes(state: &State, now: i64) -> Result<Vec<NodeRow>, PageError> {
    let leases = state.store.leases().list().await?;
    let live = state.store.leases().live_nodes(now - NODE_MS).await?;
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
    let job = state.store.jobs().list(&jobs).await?.items.first().map(|job| job.id);
    let run = state.store.runs().newest_run().await? > 0;
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
