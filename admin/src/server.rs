//! The wiring of one node: builds everything, runs the services, stops them in order. Decides nothing else.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carillon_scheduler::{Clock, Millis};
use futures_util::future::join_all;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{self, Config, Problem, RedisForm, RedisUrl};
use crate::web::BodyMemory;
use crate::web::executor_api::wrong_tokens::WrongTokens;
use crate::web::{self, ListenerRole, Server, ServerHandle};
use carillon_accounts::setup::{self, FirstAdmin};
use carillon_engine::executor::{ExecutorClient, Limits};
use carillon_engine::lease::{Leases, Local, Place, Redis, Servers};
use carillon_engine::metrics::Metrics;
use carillon_engine::runtime::{self, Service};
use carillon_engine::{
    BackfillReleaser, Complete, Engine, Escalate, FollowCalendars, FollowClock, Gaps, GiveBack, Parts, Pending, Prune,
    Registry, Resolve, Scans, Settings, Shards, Successes, Tick, Watch,
};
use carillon_store::{Database, Store};

/// Why a node cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] carillon_store::Error),
    #[error("cannot listen on {address} ({setting}): {source}")]
    Listen {
        address: SocketAddr,
        /// Flag and variable.
        setting: &'static str,
        source: std::io::Error,
    },
    #[error("{0}")]
    Settings(String),
    #[error("the web server failed: {0}")]
    Web(#[from] std::io::Error),
    #[error("a service failed again and again; start the node anew")]
    Services,
}

/// The services of a node; a test steps them one by one.
pub struct Services {
    pub registry: Arc<Registry>,
    pub follow_clock: Arc<FollowClock>,
    pub shards: Arc<Shards>,
    pub scans: Arc<Scans>,
    pub tick: Arc<Tick>,
    pub complete: Arc<Complete>,
    pub successes: Arc<Successes>,
    pub give_back: Arc<GiveBack>,
    pub resolve: Arc<Resolve>,
    pub watch: Arc<Watch>,
    pub backfill: Arc<BackfillReleaser>,
    pub follow_calendars: Arc<FollowCalendars>,
    pub gaps: Arc<Gaps>,
    pub prune: Arc<Prune>,
    pub pending: Arc<Pending>,
    pub escalate: Arc<Escalate>,
}

/// A node that is built and not running yet.
pub struct Admin {
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub services: Services,
    /// Whether anybody can log in to the console yet.
    pub first_admin: FirstAdmin,
    state: web::Shared,
    listener: TcpListener,
    address: SocketAddr,
    /// Where executors alone are answered, if that is apart.
    executors: Option<(TcpListener, SocketAddr)>,
    ready: Arc<AtomicBool>,
}

/// A stop that takes longer than this ends anyway: it is safe, and another node or the next start goes on.
const STOP_WITHIN: Duration = Duration::from_secs(15);
/// After its leases are given back, a node goes on marking what is due until a peer's epoch refuses it, at most so long.
const HAND_OVER: Duration = Duration::from_secs(3);

impl Admin {
    /// Opens the database, brings its schema up to date (or refuses it), and listens.
    ///
    /// # Errors
    /// Settings that do not fit the database, a database that cannot be used, an address that cannot be listened on.
    pub async fn build(config: Config, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        // The first one wins; which it is does not matter.
        rustls::crypto::ring::default_provider().install_default().unwrap_or(());
        let store = open(&config).await?;
        let shards = store.ensure_shards(config.shards).await?;
        if store.is_exclusive() {
            store.forget_the_killed().await?;
        }
        let settings = Settings::of(&config.engine);
        let node = carillon_accounts::secret::random_secret();
        let node: String = node.chars().take(16).collect();
        let limits = Limits { connect: settings.connect_limit, request: settings.send_limit };
        let client = ExecutorClient::new(&config.access_token, limits).map_err(Error::Settings)?;
        let leases = locks(&config, &store.cluster().await?, &node)?;
        let metrics = Arc::new(Metrics::new());
        let parts = Parts {
            store: store.clone(),
            clock: clock.clone(),
            metrics: metrics.clone(),
            client,
            leases,
            settings,
            node,
            shards,
        };
        let engine = Engine::new(parts);
        engine.begin().await?;
        let first_admin = first_admin(&store, &config, clock.now()).await?;
        let (listener, address) = listen(config.listen, "--listen, CARILLON_LISTEN")?;
        let executors = "--executor-listen, CARILLON_EXECUTOR_LISTEN";
        let executors = config.executor_listen.map(|address| listen(address, executors)).transpose()?;
        engine.set_address(format!("http://{address}/"));
        let ready = Arc::new(AtomicBool::new(false));
        let most = config.body_memory;
        let state = web::State {
            store: store.clone(),
            engine: engine.clone(),
            clock,
            config,
            body_memory: BodyMemory::new(most, metrics.request_bytes.clone()),
            wrong_tokens: WrongTokens::default(),
            metrics,
            ready: ready.clone(),
        };
        Ok(Self {
            services: Services::of(&engine),
            first_admin,
            store,
            engine,
            state: web::Shared::new(state),
            listener,
            address,
            executors,
            ready,
        })
    }

    /// Where it listens; the port is known even if 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where executors are answered.
    pub fn executor_address(&self) -> SocketAddr {
        let apart = self.executors.as_ref().map(|(_, address)| *address);
        apart.unwrap_or(self.address)
    }

    /// Serves until `stop`, then stops in order. A second cancellation is not needed: it ends within 15 s.
    ///
    /// # Errors
    /// The web server cannot start, or a service has failed again and again.
    pub async fn run(self, stop: CancellationToken) -> Result<(), Error> {
        self.run_with_executors(stop, std::future::ready(())).await
    }

    /// As `run`, for a process that holds executors as well. `executors_stop` is awaited during the stop, when no run is sent
    /// any more and results are still accepted; it counts into the 15 s.
    ///
    /// # Errors
    /// As `run`.
    pub async fn run_with_executors(
        self,
        stop: CancellationToken,
        executors_stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let executor_address = self.executor_address();
        let servers = servers(self.listener, self.executors, self.state)?;
        let webs: Vec<_> = servers.iter().map(Server::handle).collect();
        let served: Vec<_> = servers.into_iter().map(tokio::spawn).collect();
        let (takers, tasks) = (TaskTracker::new(), TaskTracker::new());
        let fatal = CancellationToken::new();
        let (taking, sending) = (CancellationToken::new(), CancellationToken::new());
        for service in self.services.taking() {
            runtime::run(service, &takers, taking.clone(), fatal.clone());
        }
        let scans = self.services.scans.clone();
        takers.spawn(scans.run(takers.clone(), taking.clone(), fatal.clone()));
        for service in self.services.sending() {
            runtime::run(service, &tasks, sending.clone(), fatal.clone());
        }
        self.ready.store(true, Ordering::Relaxed);
        tracing::info!(listen.address = %self.address, listen.executors = %executor_address, node.id = self.engine.node, shard.count = self.engine.shards(), "serving");
        tokio::select! {
            () = stop.cancelled() => {}
            () = fatal.cancelled() => return Err(Error::Services),
        }
        tracing::info!("stopping");
        self.ready.store(false, Ordering::Relaxed);
        taking.cancel();
        takers.close();
        // What a claim under way records is marked here, until somebody else has its shard.
        if tokio::time::timeout(HAND_OVER, takers.wait()).await.is_err() {
            tracing::warn!("a claim under way does not end; whoever has its shard next waits for it");
        }
        let orderly = async {
            stop_sending(&self.engine, &self.services).await;
            executors_stop.await;
            stop_completing(&self.engine, &webs, &sending, &tasks).await;
        };
        if tokio::time::timeout(STOP_WITHIN - HAND_OVER - Duration::from_secs(3), orderly).await.is_err() {
            tracing::warn!("not everything ended in time; the rest is taken over by another node or the next start");
        }
        // A second call only waits for the end of the first.
        let stops = join_all(webs.iter().map(|web| web.stop(true)));
        if tokio::time::timeout(Duration::from_secs(3), stops).await.is_err() {
            served.iter().for_each(tokio::task::JoinHandle::abort);
        }
        tracing::info!("stopped");
        Ok(())
    }

    /// The web server alone, for a test that steps the services itself.
    ///
    /// # Errors
    /// The listener cannot be used.
    pub fn serve_only(self) -> Result<(Services, Arc<Engine>, Arc<Store>), Error> {
        for server in servers(self.listener, self.executors, self.state)? {
            tokio::spawn(server);
        }
        self.ready.store(true, Ordering::Relaxed);
        Ok((self.services, self.engine, self.store))
    }
}

fn servers(
    listener: TcpListener,
    executors: Option<(TcpListener, SocketAddr)>,
    state: web::Shared,
) -> std::io::Result<Vec<Server>> {
    let Some((apart, _)) = executors else {
        return Ok(vec![web::serve(listener, state, ListenerRole::All)?]);
    };
    Ok(vec![
        web::serve(listener, state.clone(), ListenerRole::People)?,
        web::serve(apart, state, ListenerRole::Executors)?,
    ])
}

/// After the end of new shards and claims: leases back; due runs are marked until a peer refuses them; requests end.
async fn stop_sending(engine: &Engine, services: &Services) {
    services.shards.give_all_back().await;
    let until = Instant::now() + HAND_OVER;
    while engine.has_peers() && Instant::now() < until && services.shards.is_marking_still_ours().await {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    engine.close();
    engine.finish_sends().await;
    until_idle(engine).await;
}

/// No new connections; the callbacks that are open are committed and answered before the service that does it ends.
/// One that comes later on an open connection is cut at once, and its executor goes to another node.
async fn stop_completing(engine: &Engine, webs: &[ServerHandle], sending: &CancellationToken, tasks: &TaskTracker) {
    let stops = webs.iter().map(|web| web.stop(true));
    let stops: Vec<_> = stops.map(tokio::spawn).collect();
    until_idle(engine).await;
    engine.close_reports();
    until_idle(engine).await;
    sending.cancel();
    drop(stops);
    tasks.close();
    tasks.wait().await;
}

async fn until_idle(engine: &Engine) {
    while !engine.is_idle() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn open(config: &Config) -> Result<Arc<Store>, Error> {
    let store = Store::open_for(&(&config.database).into(), config.engine.lease_ttl).await?;
    if config.no_migrate {
        store.check_schema().await?;
    } else {
        store.migrate().await?;
    }
    Ok(store)
}

/// The locks in front of the leases, for this node of this cluster.
///
/// # Errors
/// `Settings`: the URL or the certificate of Redis cannot be used.
pub fn locks(config: &Config, cluster: &str, node: &str) -> Result<Box<dyn Leases>, Error> {
    let Some(url) = &config.redis_url else {
        return Ok(Box::new(Local));
    };
    let wrong = |setting, what: String| Error::Settings(Problem::new(setting, what).to_string());
    let parsed = RedisUrl::parse(url).map_err(|what| wrong("redis-url", what))?;
    let ca = match &config.redis_ca {
        None => None,
        Some(path) => Some(std::fs::read(path).map_err(|error| {
            let what = format!("cannot read {}: {error}; name a PEM file", path.display());
            wrong("redis-ca", what)
        })?),
    };
    let place = Place {
        servers: match parsed.form {
            RedisForm::Single => Servers::Single { url: url.clone() },
            RedisForm::Sentinel { master } => Servers::Sentinel { master },
            RedisForm::Cluster => Servers::Cluster,
        },
        hosts: parsed.hosts,
        tls: parsed.tls,
        ca,
        user: parsed.user,
        password: parsed.password,
        database: parsed.database,
        sentinel_user: parsed.sentinel_user,
        sentinel_password: parsed.sentinel_password,
    };
    let setting = if config.redis_ca.is_some() { "redis-ca" } else { "redis-url" };
    let redis = Redis::new(&place, cluster, node);
    Ok(Box::new(redis.map_err(|what| wrong(setting, what))?))
}

async fn first_admin(store: &Store, config: &Config, now: Millis) -> Result<FirstAdmin, Error> {
    let password = config.admin_password.as_deref();
    let found = setup::ensure_first_admin(store, password, now).await;
    found.map_err(|error| match error {
        carillon_accounts::password::Error::Store(error) => Error::Store(error),
        refused => Error::Settings(Problem::new("admin-password", refused.to_string()).to_string()),
    })
}

impl From<&config::Database> for Database {
    fn from(database: &config::Database) -> Self {
        match database {
            config::Database::Sqlite { path } => Self::Sqlite { path: path.clone() },
            config::Database::Postgres { url } | config::Database::Mysql { url } => Self::Server { url: url.clone() },
        }
    }
}

fn listen(address: SocketAddr, setting: &'static str) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |source| Error::Listen { address, setting, source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

impl Services {
    fn of(engine: &Arc<Engine>) -> Self {
        Self {
            registry: Arc::new(Registry::new(engine.clone())),
            follow_clock: Arc::new(FollowClock::new(engine.clone())),
            shards: Arc::new(Shards::new(engine.clone())),
            scans: Arc::new(Scans::new(engine.clone())),
            tick: Arc::new(Tick(engine.clone())),
            complete: Arc::new(Complete(engine.clone())),
            successes: Arc::new(Successes(engine.clone())),
            give_back: Arc::new(GiveBack(engine.clone())),
            resolve: Arc::new(Resolve::new(engine.clone())),
            watch: Arc::new(Watch::new(engine.clone())),
            follow_calendars: Arc::new(FollowCalendars::new(engine.clone())),
            backfill: Arc::new(BackfillReleaser(engine.clone())),
            gaps: Arc::new(Gaps::new(engine.clone())),
            prune: Arc::new(Prune::new(engine.clone())),
            pending: Arc::new(Pending::new(engine.clone())),
            escalate: Arc::new(Escalate(engine.clone())),
        }
    }

    /// Those that take on work: they end first.
    fn taking(&self) -> Vec<Arc<dyn Service>> {
        vec![
            self.shards.clone(),
            self.resolve.clone(),
            self.watch.clone(),
            self.follow_calendars.clone(),
            self.backfill.clone(),
            self.gaps.clone(),
            self.prune.clone(),
            self.pending.clone(),
            self.escalate.clone(),
        ]
    }

    /// Those that finish it.
    fn sending(&self) -> Vec<Arc<dyn Service>> {
        vec![
            self.follow_clock.clone(),
            self.registry.clone(),
            self.tick.clone(),
            self.complete.clone(),
            self.successes.clone(),
            self.give_back.clone(),
        ]
    }
}
