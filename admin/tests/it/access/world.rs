//! Two nodes on one database, two apps, and an object of each kind in both of them.

use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_admin::Admin;
use carillon_engine::Engine;
use carillon_engine::manage::{BackfillRange, RunRequest};
use carillon_scheduler::{
    AlertKind, Calendar, Cause, Clock as _, JobDraft, LimitDraft, ManualClock, Millis, ScheduleDraft,
};
use carillon_store::alert::alerts::AlertFilter;
use carillon_store::alert::channels::ChannelRow;
use carillon_store::alert::routing::AlertEvent;
use carillon_store::alert::rules::NewRule;
use carillon_store::app::executor_tokens::NewExecutorToken;
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::app::maintenance_windows::MaintenanceWindow;
use carillon_store::app::pauses::Pause;
use carillon_store::db::ids;
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, App, Grants, Store};

use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement};

use crate::services::TestDatabase;

pub const NOW: Millis = 1_760_000_040_400;
const DAY: Millis = 86_400_000;
/// The number of no object.
pub const MISSING: i64 = 999_999_999;

/// What the requests of the matrix name.
#[derive(Clone, Debug)]
pub struct Objects {
    pub app: App,
    pub job: i64,
    /// Of the job.
    pub key: String,
    pub run: i64,
    pub backfill: i64,
    pub rule: i64,
    pub alert: i64,
    pub executor: String,
    /// A token that has expired: another one may be made.
    pub token: i64,
    /// Ahead.
    pub pause: i64,
    /// A maintenance window that is in force.
    pub window: i64,
    /// A limit of the app.
    pub limit: i64,
}

/// An app without jobs, which may be deleted.
#[derive(Clone, Debug)]
pub struct SpareApp {
    pub id: i64,
    pub former_name: String,
}

pub struct World {
    pub urls: [String; 2],
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub clock: Arc<ManualClock>,
    pub access_token: String,
    pub password: String,
    pub own: Objects,
    pub other: Objects,
    pub spare_app: SpareApp,
    /// An account that the pages of users are about.
    pub guest: i64,
    /// A personal token of the account that asks, where a request is about one.
    pub own_token: i64,
    /// A channel for alerts, and one that no rule uses.
    pub channel: i64,
    pub spare_channel: i64,
    raw: DatabaseConnection,
    second: Arc<Engine>,
}

impl World {
    pub async fn start(db: &TestDatabase) -> Self {
        let mut config = db.config();
        config.admin_password = Some(random_secret());
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        let clock = Arc::new(ManualClock::new(NOW));
        let first = Admin::build(config.clone(), clock.clone()).await.unwrap();
        let second = Admin::build(config.clone(), clock.clone()).await.unwrap();
        let urls = [&first, &second].map(|node| format!("http://{}", node.address()));
        let (_, engine, store) = first.serve_only().unwrap();
        let (_, second, _) = second.serve_only().unwrap();
        // Pages have small numbers of their own, such as the status: the ids of objects are none of those, nor of another kind.
        let raw = Database::connect(db.direct_url()).await.unwrap();
        for (kind, taken) in [(&ids::JOB, 5_000), (&ids::RUN, 100_000), (&ids::ROW, 300_000)] {
            store.take_ids(kind, taken).await.unwrap();
        }
        let app = async |name: &str| engine.apps().create(name, None, &Actor::engine()).await.unwrap();
        let (one, two) = (app("app-own").await, app("app-other").await);
        let (channel, spare_channel) = (channel(&store).await, channel(&store).await);
        let own = objects(&engine, &store, one, channel, NOW).await;
        let other = objects(&engine, &store, two, channel, NOW).await;
        let (guest, spare_app) = (guest(&store).await, spare_app(&engine).await);
        let (access_token, password) = (config.access_token, config.admin_password.unwrap_or_default());
        Self {
            urls,
            store,
            engine,
            clock,
            access_token,
            password,
            own,
            other,
            spare_app,
            guest,
            own_token: MISSING,
            channel,
            spare_channel,
            raw,
            second,
        }
    }

    pub async fn sql(&self, text: &str) {
        self.raw.execute_unprepared(text).await.unwrap();
    }

    /// Entries of the audit about what these actors have changed.
    pub async fn changes_by(&self, actors: &[&str]) -> i64 {
        let text =
            format!("SELECT COUNT(*) FROM audit WHERE action <> 'deny' AND actor IN ('{}')", actors.join("', '"));
        let rows = self.raw.query_all_raw(Statement::from_string(self.raw.get_database_backend(), text)).await;
        rows.unwrap()[0].try_get_by_index(0).unwrap()
    }

    /// New objects, after a request that may have changed the old ones.
    pub async fn renew(&mut self) {
        let (own, other, now) = (self.own.app.clone(), self.other.app.clone(), self.clock.now());
        self.own = objects(&self.engine, &self.store, own, self.channel, now).await;
        self.other = objects(&self.engine, &self.store, other, self.channel, now).await;
        let former_names = self.engine.apps().former_names(self.spare_app.id).await.unwrap_or_default();
        if former_names.is_empty() {
            self.spare_app = spare_app(&self.engine).await;
        }
        self.guest = guest(&self.store).await;
        self.spare_channel = channel(&self.store).await;
    }

    /// A token of the app's executors, which both nodes know.
    pub async fn executor_token(&self, app: &App) -> String {
        let created = self.engine.app_tokens().create(app.id, CALLERS_TOKEN, None, &Actor::engine()).await.unwrap();
        self.second.begin().await.unwrap();
        created.1
    }
}

/// The name of the token that a caller has.
const CALLERS_TOKEN: &str = "caller";

async fn expired_token(engine: &Engine, store: &Store, app: &App) -> i64 {
    let by = Actor::engine();
    for token in store.apps().executor_tokens_of(app.id).await.unwrap() {
        if token.name != CALLERS_TOKEN {
            engine.app_tokens().revoke(app.id, token.id, &by).await.unwrap();
        }
    }
    engine.app_tokens().set_own_tokens_only(app.id, false, &by).await.unwrap();
    let token_hash = random_secret();
    let new =
        NewExecutorToken { name: "old", token_hash: &token_hash, sealed: "", now: NOW - 1, expires_at: Some(NOW) };
    store.apps().create_executor_token(app, &new, &by).await.unwrap().id
}

async fn channel(store: &Store) -> i64 {
    let id = store.alerts().next_channel_id().await.unwrap();
    let row = ChannelRow {
        id,
        name: format!("file {id}"),
        kind: "file".to_owned(),
        settings: "{}".to_owned(),
        sealed: None,
        apps: None,
        language: "en".to_owned(),
        zone: "UTC".to_owned(),
        per_hour: 60,
        revision: 1,
        updated_at: 0,
    };
    store.alerts().create_channel(&row, NOW, &Actor::engine()).await.unwrap();
    id
}

async fn guest(store: &Store) -> i64 {
    if let Some(account) = store.people().account_by_name("guest").await.unwrap() {
        if account.disabled_at.is_some() {
            store.people().set_account_enabled(account.id, true, NOW, &Actor::engine()).await.unwrap();
        }
        return account.id;
    }
    let new = NewAccount { name: "guest", password_hash: "none", grants: &Grants::default() };
    store.people().create_account(&new, NOW, &Actor::engine()).await.unwrap()
}

async fn objects(engine: &Engine, store: &Store, app: App, channel: i64, now: Millis) -> Objects {
    let by = Actor::engine();
    let starter = match store.apps().by_name("app-starter").await.unwrap() {
        Some(starter) => starter,
        None => engine.apps().create("app-starter", None, &by).await.unwrap(),
    };
    engine.apps().set_starters(app.id, &[starter.name], &by).await.unwrap();
    let by = Actor::engine();
    let executor = format!("http://{}.example:9999", app.name);
    store.apps().register_executor(&registration(&app.name, &executor)).await.unwrap();
    let mut draft = JobDraft::new(&app.name, "Close the day", "closeDay");
    draft.schedule = ScheduleDraft::cron("0 * * * * ?", "UTC");
    draft.enabled = false;
    draft.key = format!("close-day-{:016x}", rand::random::<u64>());
    let key = draft.key.clone();
    let job = engine.jobs().create(draft, None, &by).await.unwrap().id;
    let ask = RunRequest {
        parts: None,
        job_id: job,
        cause: Cause::Manual,
        params: None,
        priority: None,
        address: None,
        idempotency_key: None,
    };
    let run = engine.jobs().run(ask, &by).await.unwrap();
    let range = BackfillRange { job_id: job, from_at: NOW - 600_000, to_at: NOW - 300_000 };
    let backfill = engine.backfills().create(range, 1, &by).await.unwrap().id;
    // Deleted by the request before; a second one of the name is refused.
    let calendar: Calendar = serde_json::from_value(serde_json::json!({"name": "bank"})).unwrap();
    let _ = engine.calendars().create(calendar, &by).await;
    let token = expired_token(engine, store, &app).await;
    let (rule, alert) = alert(store, &app, channel).await;
    let (pause, window) = (pause(store, &app, now).await, window(store, &app, now).await);
    let limit = limit(engine, &app).await;
    Objects { app, job, key, run, backfill, rule, alert, executor, token, pause, window, limit }
}

/// The only limit of the app, as it is when it is new.
async fn limit(engine: &Engine, app: &App) -> i64 {
    let (by, limits) = (Actor::engine(), engine.run_limits());
    for old in limits.list(&by).await.unwrap().iter().filter(|old| old.rule.app_id == Some(app.id)) {
        limits.delete(old.rule.id, &by).await.unwrap();
    }
    let draft = LimitDraft { app: Some(app.name.clone()), ..LimitDraft::new("at-work", 3) };
    limits.create(draft, &by).await.unwrap().rule.id
}

async fn spare_app(engine: &Engine) -> SpareApp {
    let (by, former_name) = (Actor::engine(), format!("former-{:016x}", rand::random::<u64>()));
    let id = engine.apps().create(&former_name, None, &by).await.unwrap().id;
    let name = format!("spare-{:016x}", rand::random::<u64>());
    engine.apps().update(id, Some(&name), None, &by).await.unwrap();
    SpareApp { id, former_name }
}

/// The only pause of the app.
async fn pause(store: &Store, app: &App, now: Millis) -> i64 {
    let by = Actor::engine();
    for old in store.apps().pauses_from(now).await.unwrap().iter().filter(|old| old.app_id == Some(app.id)) {
        store.apps().end_pause(old, now, &by).await.unwrap();
    }
    let pause = Pause {
        id: 0,
        app_id: Some(app.id),
        app: Some(app.name.clone()),
        note: "deployment".to_owned(),
        author: by.name.clone(),
        starts_at: now + DAY,
        ends_at: None,
        created_at: now,
    };
    store.apps().create_pause(pause, &by).await.unwrap().id
}

/// The only maintenance window of the app. It is made long before now, or it would not be in force.
async fn window(store: &Store, app: &App, now: Millis) -> i64 {
    let by = Actor::engine();
    for old in store.apps().maintenance_windows().await.unwrap().iter().filter(|old| old.app_id == Some(app.id)) {
        store.apps().delete_maintenance_window(old, now, &by).await.unwrap();
    }
    let window = MaintenanceWindow {
        id: 0,
        app_id: Some(app.id),
        app: Some(app.name.clone()),
        note: "patches".to_owned(),
        author: by.name.clone(),
        expression: "0 0 0 * * ?".to_owned(),
        timezone: "UTC".to_owned(),
        minutes: 23 * 60,
        ended_at: None,
        created_at: now - 2 * DAY,
    };
    store.apps().create_maintenance_window(window, &by).await.unwrap().id
}

/// A rule of the app, and an open alert of it.
async fn alert(store: &Store, app: &App, channel: i64) -> (i64, i64) {
    let definition = serde_json::from_value(serde_json::json!({"kinds": ["failed"], "channels": [channel]})).unwrap();
    let name = format!("rule {:016x}", rand::random::<u64>());
    let new = NewRule { name, app_id: Some(app.id), definition, enabled: true };
    let rule_id = store.alerts().create_rule(&new, NOW, &Actor::engine()).await.unwrap();
    let event = AlertEvent {
        rule_id,
        group_key: "rule".to_owned(),
        app_id: Some(app.id),
        subject: "job:1".to_owned(),
        kind: AlertKind::Failed,
        job_id: None,
        job: None,
        run_id: None,
        text: "failed".to_owned(),
        at: NOW,
        threshold: 1,
        is_lasting: false,
        escalate_after_ms: None,
        group_ms: 0,
    };
    store.alerts().record_events(&[event], &[], NOW).await.unwrap();
    let filter = AlertFilter { rule_id: Some(rule_id), limit: 1, ..AlertFilter::default() };
    (rule_id, store.alerts().list(&filter).await.unwrap().items[0].id)
}

fn registration(app: &str, address: &str) -> Executor {
    Executor {
        app: app.to_owned(),
        address: address.to_owned(),
        boot_id: None,
        capabilities: None,
        journal_id: None,
        token_id: None,
        registered_at: NOW,
        seen_at: NOW,
        expires_at: NOW + 90_000,
        announced: ExecutorSettings::default(),
        set: ExecutorSettings::default(),
        manual_since: None,
        draining_since: None,
    }
}
