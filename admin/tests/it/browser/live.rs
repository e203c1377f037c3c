//! A node that runs by itself, with a real executor: what a browser looks at.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_accounts::setup::{FIRST_ADMIN, ensure_first_admin};
use carillon_admin::Admin;
use carillon_engine::Engine;
use carillon_executor::{Executor, ItemContext, JobContext, JobError, MapContext, ReduceContext, log};
use carillon_scheduler::{Clock, JobDraft, SystemClock};
use carillon_store::{App, Definition, DefinitionContext, GrantScope, Grants, Job, Role, Store};
use tokio_util::sync::CancellationToken;

use crate::conformance::fixture::actor;
use crate::services::{Kind, TestDatabase};

pub struct Live {
    pub url: String,
    pub name: &'static str,
    pub password: String,
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub clock: Arc<dyn Clock>,
    token: String,
    stop: CancellationToken,
    database: TestDatabase,
}

impl Live {
    /// A node on an empty SQLite file, with an administrator.
    pub async fn start() -> Self {
        let live = Self::without_accounts().await;
        let now = live.clock.now();
        ensure_first_admin(&live.store, Some(&live.password), now).await.unwrap();
        let account = live.store.people().account_by_name(FIRST_ADMIN).await.unwrap().unwrap();
        let grants = Grants::for_all(Role::Admin).with_scripts([GrantScope::AllApps]);
        live.store.people().set_grants(account.id, &grants, now, &actor()).await.unwrap();
        live
    }

    /// The same without an account: it offers to set up the first one.
    pub async fn without_accounts() -> Self {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        if let Ok(port) = std::env::var("CARILLON_SHOW_PORT") {
            config.listen.set_port(port.parse().unwrap());
        }
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        config.engine.scripts = true;
        let token = config.access_token.clone();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let admin = Admin::build(config, clock.clone()).await.unwrap();
        let password = random_secret();
        let (store, engine) = (admin.store.clone(), admin.engine.clone());
        let url = format!("http://{}", admin.address());
        let stop = CancellationToken::new();
        tokio::spawn(admin.run(stop.clone()));
        Self { url, name: FIRST_ADMIN, password, store, engine, clock, token, stop, database }
    }

    pub async fn app(&self, name: &str, title: &str) -> App {
        self.store.apps().create(name, title, self.clock.now(), &actor()).await.unwrap()
    }

    pub async fn job(&self, draft: JobDraft) -> Job {
        let now = self.clock.now();
        let app = self.store.apps().by_name(&draft.app).await.unwrap().unwrap();
        let calendars = self.store.calendars().named(&draft.schedule.calendars);
        let calendars = calendars.await.unwrap();
        let surroundings = DefinitionContext::new(&app, &calendars);
        let definitions = vec![Definition::check_in(surroundings, &draft, now).unwrap()];
        let made = self.store.jobs().create(definitions, now, &actor(), None).await;
        made.unwrap().remove(0)
    }

    /// A calendar, as the API takes it.
    pub async fn calendar(&self, json: &str) {
        let (draft, now) = (serde_json::from_str(json).unwrap(), self.clock.now());
        let made = self.store.calendars().create(&draft, now, &actor()).await;
        made.unwrap();
    }

    /// Writes into the database behind the node's back.
    pub async fn write(&self, text: &str) {
        let database = sea_orm::Database::connect(self.database.direct_url()).await.unwrap();
        sea_orm::ConnectionTrait::execute_unprepared(&database, text).await.unwrap();
    }

    /// An executor that is online when this returns; it ends with `stop` or with this value.
    pub async fn executor(&self, app: &str) -> CancellationToken {
        let folder = self.database.folder().join(random_secret());
        let executor = Executor::builder()
            .admin(&self.url)
            .token(&self.token)
            .app(app)
            .data_dir(folder)
            .grace(Duration::from_millis(100))
            .job("echo", echo)
            .job("lines", lines)
            .job("fails", fails)
            .map_reduce("items", (list, count, sum))
            .build()
            .unwrap();
        let handle = executor.handle();
        let stop = self.stop.child_token();
        tokio::spawn(executor.run(stop.clone().cancelled_owned()));
        handle.registered().await;
        stop
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn echo(ctx: JobContext) -> Result<String, JobError> {
    log!(ctx, "{}", ctx.params());
    Ok(ctx.params().to_owned())
}

/// `1000` lines, or `1000 50`: one each 50 ms.
async fn lines(ctx: JobContext) -> Result<String, JobError> {
    let mut words = ctx.params().split(' ').map(|word| word.parse::<u64>().unwrap_or(0));
    let (count, pause) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
    for number in 1..=count {
        log!(ctx, "order {number} of {count} is settled");
        if pause > 0 {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(pause)) => {}
                () = ctx.cancelled() => return Err(JobError::new("interrupted")),
            }
        }
    }
    Ok(format!("{count} orders settled"))
}

/// As many items as the parameters say.
async fn list(ctx: MapContext) -> Result<String, JobError> {
    let count: usize = ctx.params().parse()?;
    ctx.map((0..count).map(|item| format!("{item} {}", "0".repeat(120)))).await?;
    Ok(count.to_string())
}

/// Each seventh item fails.
async fn count(ctx: ItemContext) -> Result<String, JobError> {
    match ctx.item() % 7 {
        6 => Err(JobError::new("0".repeat(300))),
        _ => Ok(ctx.item().to_string()),
    }
}

async fn sum(ctx: ReduceContext) -> Result<String, JobError> {
    Ok(format!("{} / {}", ctx.items() - ctx.failed(), ctx.items()))
}

async fn fails(ctx: JobContext) -> Result<String, JobError> {
    log!(ctx, "connecting to {}", ctx.params());
    Err(JobError::new("the payment provider answered 503 Service Unavailable"))
}
