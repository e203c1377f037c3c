//! A node, an app with jobs, and what a test asks of its alerts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret_keys::SecretKeys;
use carillon_admin::Admin;
use carillon_admin::config::Config;
use carillon_alerts::channel::{ChannelKind, Sender};
use carillon_alerts::manage::{AlertAction, ChannelDraft};
use carillon_alerts::message::{Locale, Message};
use carillon_alerts::{AlertDeliverer, Alerts};
use carillon_engine::Engine;
use carillon_engine::outgoing::{Connector, NetworkRules};
use carillon_scheduler::{AlarmKind, Clock as _, JobDraft, ManualClock, Millis};
use carillon_store::Store;
use carillon_store::alarm::alarms::Alarm;
use carillon_store::alert::alerts::{Alert, AlertFilter};
use carillon_store::alert::deliveries::{Delivery, DeliveryFilter};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};

use crate::conformance::fixture::actor;
use crate::services::TestDatabase;

pub const NOW: Millis = 1_760_000_040_400;

pub struct World {
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub alerts: Arc<Alerts>,
    pub clock: Arc<ManualClock>,
    pub jobs: Vec<i64>,
    keys: SecretKeys,
    folder: PathBuf,
    raw: sea_orm::DatabaseConnection,
}

impl World {
    pub async fn start(db: &TestDatabase, jobs: usize) -> Self {
        let key: String = rand::random::<[u8; 32]>().iter().map(|byte| format!("{byte:02x}")).collect();
        Self::with_keys(db, jobs, SecretKeys::parse(&key).unwrap()).await
    }

    /// `keys` encrypt the secrets of channels.
    pub async fn with_keys(db: &TestDatabase, jobs: usize, keys: SecretKeys) -> Self {
        Self::with(db, jobs, |config| config.secret_keys = keys).await
    }

    pub async fn with(db: &TestDatabase, jobs: usize, change: impl FnOnce(&mut Config)) -> Self {
        let clock = Arc::new(ManualClock::new(NOW));
        let mut config = db.config();
        change(&mut config);
        let keys = config.secret_keys.clone();
        let admin = Admin::build(config, clock.clone()).await.unwrap();
        let alerts = admin.alerts.clone();
        let (_, engine, store) = admin.serve_only().unwrap();
        engine.apps().create("billing", None, &actor()).await.unwrap();
        let drafts = (0..jobs).map(|number| JobDraft::new("billing", format!("job {number}"), "h")).collect();
        let made = engine.jobs().create_all(drafts, None, &actor()).await.unwrap();
        let jobs = made.iter().map(|job| job.id).collect();
        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        Self { store, engine, alerts, clock, jobs, keys, folder: db.folder().to_owned(), raw }
    }

    /// Sends like the node's own, but waits only for a moment.
    pub async fn impatient_deliverer(&self) -> AlertDeliverer {
        let connector = Connector::new(NetworkRules { has_loopback_executors: true, ..NetworkRules::default() });
        let cluster = self.store.leases().cluster().await.unwrap();
        let sender = Sender::new(cluster, self.folder.clone(), connector).unwrap();
        let sender = Arc::new(sender.with_time_limit(Duration::from_millis(500)));
        AlertDeliverer::new(self.engine.clone(), sender, self.keys.clone(), Arc::default())
    }

    pub async fn channel(&self, kind: ChannelKind, settings: Value) -> i64 {
        self.channel_with(kind, settings, json!({})).await
    }

    pub async fn channel_with(&self, kind: ChannelKind, settings: Value, secrets: Value) -> i64 {
        let settings = serde_json::from_value(settings).unwrap();
        let secrets = serde_json::from_value(secrets).unwrap();
        let usual = ChannelDraft::new(kind.as_str(), kind);
        self.channel_of(ChannelDraft { settings, secrets, all_apps: true, ..usual }).await
    }

    pub async fn channel_of(&self, draft: ChannelDraft) -> i64 {
        self.alerts.create_channel(draft, &actor()).await.unwrap().id
    }

    pub async fn acknowledge(&self, id: i64, note: &str) -> Result<(), carillon_engine::manage::Error> {
        let action = AlertAction::Acknowledge { note: note.to_owned() };
        self.alerts.handle(id, &action, &actor()).await
    }

    pub async fn rule(&self, channel: i64, more: Value) -> i64 {
        let mut rule = json!({"name": "failures", "kinds": ["failed", "paused"], "channels": [channel]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let draft = serde_json::from_value(rule).unwrap();
        self.alerts.create_rule(draft, &actor()).await.unwrap().id
    }

    pub async fn fail(&self, job_id: i64, run_id: i64) {
        let alarm =
            Alarm { kind: AlarmKind::Failed, job_id: Some(job_id), run_id: Some(run_id), text: "boom".to_owned() };
        let _raised = self.store.alarms().raise_alone(alarm, self.clock.now()).await.unwrap();
    }

    /// A run of the job that succeeded.
    pub async fn succeed(&self, job_id: i64, run_id: i64) {
        let text = format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
             VALUES ({run_id}, {job_id}, 1, 0, 0, {run_id}, 0, 1, 1, {run_id}, {run_id}, 9, 1, 1)"
        );
        self.sql(&text).await;
    }

    pub async fn sql(&self, text: &str) {
        self.raw.execute_unprepared(text).await.unwrap();
    }

    /// What a query answers.
    pub async fn number(&self, text: &str) -> i64 {
        let statement = Statement::from_string(self.raw.get_database_backend(), text);
        self.raw.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }

    pub async fn round(&self) {
        self.alerts.router.round().await.unwrap();
    }

    /// An executor whose lease ends at this time.
    pub async fn executor(&self, app: &str, expires_at: Millis) {
        let row = "INSERT INTO executor (app, address, registered_at, seen_at, expires_at)";
        self.sql(&format!("{row} VALUES ('{app}', 'http://10.0.0.5:9999/', 1, 1, {expires_at})")).await;
    }

    /// The titles of all messages, oldest first.
    pub async fn titles(&self) -> Vec<String> {
        let messages =
            self.deliveries().await.into_iter().map(|it| serde_json::from_str::<Message>(&it.message).unwrap());
        messages.map(|message| message.title(&Locale::default())).collect()
    }

    /// Advances the clock by `seconds`.
    pub fn later(&self, seconds: u64) {
        self.clock.advance(std::time::Duration::from_secs(seconds));
    }

    pub async fn open(&self) -> Vec<Alert> {
        let filter = AlertFilter { open: Some(true), limit: 100, ..AlertFilter::default() };
        self.store.alerts().list(&filter).await.unwrap().items
    }

    /// Oldest first.
    pub async fn deliveries(&self) -> Vec<Delivery> {
        let filter = DeliveryFilter { limit: 1000, ..DeliveryFilter::default() };
        let mut found = self.store.alerts().deliveries(&filter).await.unwrap().items;
        found.reverse();
        found
    }

    /// The kinds of all messages, oldest first.
    pub async fn told(&self) -> Vec<String> {
        self.deliveries().await.into_iter().map(|delivery| delivery.kind).collect()
    }
}
