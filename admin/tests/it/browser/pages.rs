//! A node whose pages are as full as they may be, and the address of every page of it.

use carillon_admin::web::route_table;
use carillon_engine::manage::RunRequest;
use carillon_scheduler::{AlertKind, Cause, JobDraft, LimitDraft, RunState, ScheduleDraft, ScriptDraft, ScriptKind};
use carillon_store::alert::alerts::AlertFilter;
use carillon_store::alert::channels::ChannelRow;
use carillon_store::alert::routing::AlertEvent;
use carillon_store::alert::rules::NewRule;
use carillon_store::people::accounts::NewAccount;
use carillon_store::workflow::action::WorkflowAction;
use carillon_store::{Actor, App, Grants};
use carillon_testkit::wait_for;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::chromium::Browser;
use super::live::Live;

pub const LONG_NAME: &str = "Settle-all-the-orders-of-every-branch-on-every-continent-at-once";
const LONG_APP: &str = "the-app-of-all-the-orders-of-every-branch-on-every-continent";

/// What the objects of the test are called.
pub const NAMES: [&str; 18] = [
    LONG_NAME,
    LONG_APP,
    "extract-from-every-branch-on-every-continent",
    "dana",
    "check",
    "load",
    "note",
    "report",
    "alarm",
    "cleanup",
    "Close",
    "Orders",
    "orders",
    "Count",
    "By hand",
    "bank",
    "nightly tier-1",
    "zone=eu,gpu=yes",
];

/// GET routes of the console that answer with something else than a page: files, parts of pages and redirections.
const NO_PAGES: [&str; 13] = [
    "/assets/{name:.*}",
    "/audit/export",
    "/jobs/names",
    "/jobs/preview",
    "/login",
    "/login/openid",
    "/login/openid/callback",
    "/reports/export",
    "/reset",
    "/runs/{id}/log",
    "/runs/{id}/log.txt",
    "/setup",
    "/zones",
];

/// Pages in states that their plain address does not show.
const VARIANTS: [&str; 10] = [
    "/jobs?text=nothing",
    "/jobs?kind=weekly",
    "/jobs/3",
    "/jobs/4",
    "/reports?group=job&days=7",
    "/?runs=30d",
    "/runs?job=abc&from=zzz",
    "/runs?state=trouble",
    "/jobs/1/explain?at=2026-01-01T00:00:00Z",
    "/no/such/page",
];

/// Pages for people who are not signed in.
pub const SIGNED_OUT: [&str; 3] = ["/login", "/login?next=%2Fjobs", "/reset?token=none"];

pub struct Filled {
    pub live: Live,
    ids: Ids,
    _executor: CancellationToken,
}

struct Ids {
    app: i64,
    rule: i64,
    alert: i64,
    channel: i64,
    guest: i64,
    script: i64,
    limit: i64,
    workflow: i64,
    /// Its runs: one that has failed, and one that is held.
    failed_run: i64,
    held_run: i64,
    /// A run that has handed in items, and one of its deliveries.
    items_runs: [i64; 2],
}

impl Filled {
    /// Jobs whose texts are as long as they may be, runs of them, and an object for each other page.
    pub async fn start() -> Self {
        let live = Live::start().await;
        let app = live.app(LONG_APP, "Orders").await;
        live.app("orders", "Orders").await;
        let title = "all the holidays of every branch on every continent";
        let calendar = json!({"name": "bank", "title": title, "weekdays": ["SAT", "SUN"], "days": ["2099-12-25"]});
        live.calendar(&calendar.to_string()).await;
        for draft in jobs() {
            live.job(draft).await;
        }
        let executor = live.executor("orders").await;
        Self::around(live, &app, executor).await
    }

    /// A node with jobs, and with an object of this app for each other page.
    pub async fn around(live: Live, app: &App, executor: CancellationToken) -> Self {
        let ids = ids(&live, app).await;
        Self { live, ids, _executor: executor }
    }

    /// The path of every page: each GET route of the console, whether or not a test knows it by name.
    pub async fn paths(&self, browser: &Browser) -> Vec<String> {
        browser.go("/runs?state=failed").await;
        let run = browser.find("tr[data-run-id]").await.attr("data-run-id").await.unwrap().unwrap();
        browser.go("/apps").await;
        let executor = browser.find("a[href*='/executor?']").await.attr("href").await.unwrap().unwrap();
        let is_page = |path: &str| {
            !NO_PAGES.contains(&path)
                && !["/api/", "/metrics", "/healthz", "/readyz"].iter().any(|it| path.starts_with(it))
        };
        let routes = route_table().into_iter().filter(|route| route.method == "GET" && is_page(&route.path));
        let pages = routes.map(|route| match route.path.as_str() {
            "/apps/{id}/executor" => executor.clone(),
            path => self.path(path, &run),
        });
        pages.chain(VARIANTS.map(str::to_owned)).chain(self.of_workflows()).collect()
    }

    fn of_workflows(&self) -> [String; 9] {
        let Ids { workflow, failed_run, held_run, items_runs, .. } = self.ids;
        [
            format!("/jobs/{workflow}"),
            format!("/jobs/{workflow}/edit"),
            format!("/runs/{failed_run}"),
            format!("/runs/{failed_run}/rerun"),
            format!("/runs/{held_run}"),
            format!("/runs/{held_run}/kill"),
            format!("/runs/{held_run}/decide?action=succeed&node=report"),
            format!("/runs/{}", items_runs[0]),
            format!("/runs/{}", items_runs[1]),
        ]
    }

    fn path(&self, route: &str, run: &str) -> String {
        let id = match route.split('/').nth(1).unwrap_or_default() {
            "runs" => run.to_owned(),
            "apps" => self.ids.app.to_string(),
            "users" => self.ids.guest.to_string(),
            "alerts" if route.starts_with("/alerts/rules") => self.ids.rule.to_string(),
            "alerts" if route.starts_with("/alerts/channels") => self.ids.channel.to_string(),
            "alerts" => self.ids.alert.to_string(),
            "limits" => self.ids.limit.to_string(),
            "jobs" if route.ends_with("/script") => self.ids.script.to_string(),
            _ => "1".to_owned(),
        };
        let path = route.replace("{id}", &id).replace("{name}", "bank").replace("{revision}", "1");
        assert!(!path.contains('{'), "say what {route} is about");
        path
    }
}

fn jobs() -> Vec<JobDraft> {
    let schedule = |json: serde_json::Value| serde_json::from_value::<ScheduleDraft>(json).unwrap();
    let zone = "America/Argentina/ComodRivadavia";
    let daily = json!({"kind": "daily", "every_seconds": 60, "from": "18:00:00", "to": "08:00:00", "timezone": zone, "calendars": ["bank"]});
    let seconds: Vec<String> = (0..60).map(|second| second.to_string()).collect();
    let often = ScheduleDraft::cron(format!("{} * * * * ?", seconds.join(",")), zone);
    let job = |app: &str, name: &str, handler: &str, schedule| {
        let mut draft = JobDraft::new(app, name, handler);
        (draft.schedule, draft.params) = (schedule, "p".repeat(300));
        draft
    };
    vec![
        job(LONG_APP, LONG_NAME, &"h".repeat(200), ScheduleDraft::fixed_rate(1)),
        job("orders", LONG_NAME, "fails", ScheduleDraft::fixed_rate(1)),
        job("orders", "Count", "lines", schedule(daily)),
        job("orders", LONG_NAME, "echo", often),
        job("orders", "By hand", "echo", ScheduleDraft::none()),
    ]
}

/// A workflow with all kinds of edges, with a run that has failed and one that is held; its nodes run where there is an executor.
async fn workflow(live: &Live, app: &App) -> (i64, [i64; 2]) {
    let app = if live.store.apps().by_name("orders").await.unwrap().is_some() { "orders" } else { &app.name };
    let long = live.job(JobDraft::new(app, LONG_NAME, "echo")).await.id;
    let fails = live.job(JobDraft::new(app, "Count", "fails")).await.id;
    let echo = live.job(JobDraft::new(app, "By hand", "echo")).await.id;
    let nodes = json!({
        "extract-from-every-branch-on-every-continent": {"job": long, "params": "{\"rows\": 7}"},
        "check": {"job": echo, "after": ["extract-from-every-branch-on-every-continent"]},
        "load": {"job": fails, "after": [{"node": "check", "when": [{"path": "/rows", "gt": 0}]}]},
        "note": {"job": echo, "after": [{"node": "check", "when": [{"path": "/rows", "eq": 0}]}]},
        "report": {"job": echo, "after": ["load", "note"], "join": "any"},
        "alarm": {"job": echo, "after": [{"node": "load", "on": "failure"}], "if_failed": "ignore"},
        "cleanup": {"job": long, "after": [{"node": "report", "on": "always"}, {"node": "alarm", "on": "always"}]}
    });
    let mut draft = JobDraft::new(app, "Close", "");
    draft.workflow =
        Some(serde_json::from_value(json!({"nodes": nodes, "output": "{{nodes.report.result}}"})).unwrap());
    let id = live.job(draft).await.id;
    let by = Actor::unlimited("dana", "");
    let fire = async || {
        let ask = RunRequest {
            job_id: id,
            cause: Cause::Api,
            params: None,
            parts: None,
            priority: None,
            address: None,
            idempotency_key: None,
        };
        live.engine.jobs().run(ask, &by).await.unwrap()
    };
    let state = async |run: i64| live.store.runs().get(run).await.unwrap().unwrap().state;
    let failed = fire().await;
    wait_for("the end of the workflow", async || state(failed).await == RunState::Failed).await;
    let held = fire().await;
    wait_for("the begin of the workflow", async || state(held).await == RunState::Running).await;
    live.engine.runs().decide(held, &WorkflowAction::Hold, &by).await.unwrap();
    (id, [failed, held])
}

/// A run with items of which some have failed, and its last delivery.
async fn items(live: &Live, app: &App) -> [i64; 2] {
    let app = if live.store.apps().by_name("orders").await.unwrap().is_some() { "orders" } else { &app.name };
    let mut draft = JobDraft::new(app, LONG_NAME, "items");
    draft.params = "30".to_owned();
    let job_id = live.job(draft).await.id;
    let ask = RunRequest {
        job_id,
        cause: Cause::Api,
        params: None,
        parts: None,
        priority: None,
        address: None,
        idempotency_key: None,
    };
    let root = live.engine.jobs().run(ask, &Actor::unlimited("dana", "")).await.unwrap();
    let ended = async || live.store.runs().get(root).await.unwrap().unwrap().state == RunState::Succeeded;
    wait_for("the end of the items", ended).await;
    let runs = live.store.maps().latest_runs(root, job_id, 10).await.unwrap();
    [root, runs[0].run_id]
}

/// A limit that a job keeps.
async fn limit(live: &Live, app: &App) -> i64 {
    let by = Actor::unlimited("dana", "");
    let draft = LimitDraft { description: "d".repeat(200), ..LimitDraft::new(LONG_NAME, 1) };
    let limit = live.engine.run_limits().create(draft, &by).await.unwrap().rule.id;
    let mut job = JobDraft::new(&app.name, "Count", "echo");
    job.limits = vec![LONG_NAME.to_owned()];
    live.job(job).await;
    limit
}

async fn ids(live: &Live, app: &App) -> Ids {
    let (store, by, now) = (&live.store, Actor::engine(), live.clock.now());
    let channel = store.alerts().next_channel_id().await.unwrap();
    let row = ChannelRow {
        id: channel,
        name: LONG_NAME.to_owned(),
        kind: "file".to_owned(),
        settings: "{}".to_owned(),
        sealed: None,
        apps: None,
        language: "en".to_owned(),
        zone: "UTC".to_owned(),
        per_hour: 60,
        revision: 1,
        updated_at: now,
    };
    store.alerts().create_channel(&row, now, &by).await.unwrap();
    let definition = serde_json::from_value(json!({"kinds": ["failed"], "channels": [channel]})).unwrap();
    let rule = NewRule { name: LONG_NAME.to_owned(), app_id: Some(app.id), definition, enabled: true };
    let rule = store.alerts().create_rule(&rule, now, &by).await.unwrap();
    let event = AlertEvent {
        rule_id: rule,
        group_key: "rule".to_owned(),
        app_id: Some(app.id),
        subject: "job:1".to_owned(),
        kind: AlertKind::Failed,
        job_id: Some(1),
        job: None,
        run_id: None,
        text: "f".repeat(300),
        at: now,
        threshold: 1,
        is_lasting: false,
        escalate_after_ms: None,
        group_ms: 0,
    };
    store.alerts().record_events(&[event], &[], now).await.unwrap();
    let filter = AlertFilter { rule_id: Some(rule), limit: 1, ..AlertFilter::default() };
    let alert = store.alerts().list(&filter).await.unwrap().items[0].id;
    let guest = NewAccount { name: LONG_NAME, password_hash: "none", grants: &Grants::default() };
    let guest = store.people().create_account(&guest, now, &by).await.unwrap();
    let mut job = JobDraft::new(&app.name, "By hand", "");
    job.script = Some(ScriptDraft::new(
        ScriptKind::Shell,
        format!("echo {}\n", "x".repeat(300)),
        LONG_NAME.chars().take(100).collect::<String>(),
    ));
    let script = live.job(job).await.id;
    let (workflow, [failed_run, held_run]) = workflow(live, app).await;
    let items_runs = items(live, app).await;
    let limit = limit(live, app).await;
    Ids { app: app.id, rule, alert, channel, guest, script, limit, workflow, failed_run, held_run, items_runs }
}
