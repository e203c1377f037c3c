//! The wiring of one node: builds everything, runs the services, stops them in order. Decides nothing else.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carillon_accounts::openid::Provider;
use carillon_accounts::setup::{self, FirstAdmin};
use carillon_alerts::Alerts;
use carillon_alerts::message::Links;
use carillon_declared::Declarations;
use carillon_engine::executor::{CallbackUrls, ExecutorClient, ExecutorTokens, HttpSender, Limits};
use carillon_engine::lease::{Redis, ShardLock};
use carillon_engine::manage::limits::rate::RateLimit;
use carillon_engine::metrics::Metrics;
use carillon_engine::outgoing::{Connector, NetworkRules};
use carillon_engine::{Engine, EngineParts, Services, Settings};
use carillon_listener::{Tls, TlsFiles};
use carillon_scheduler::{Clock, Millis, zone_data};
use carillon_store::{Database, Store};
use futures_util::future::join_all;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{self, Config, Problem, PublicUrl};
use crate::web::executor_api::refusals::RefusedExecutors;
use crate::web::{self, BodyMemory, CredentialLookUps, ListenerRole, Server, ServerHandle, TokenLookUps};

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

/// A node that is built and not running yet.
pub struct Admin {
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub alerts: Arc<Alerts>,
    pub declarations: Arc<Declarations>,
    /// Whether anybody can log in to the console yet.
    pub first_admin: FirstAdmin,
    state: web::Shared,
    listener: Listener,
    /// Where executors alone are answered, if that is apart.
    executors: Option<Listener>,
    ready: Arc<AtomicBool>,
}

/// A socket, and what its clients are shown.
struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<Tls>>,
}

/// A stop that takes longer than this ends anyway: it is safe, and another node or the next start goes on.
const STOP_WITHIN: Duration = Duration::from_secs(15);
/// After its leases are given back, a node goes on marking what is due until a peer's epoch refuses it, at most for this time.
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
        let shards = store.leases().ensure_shards(config.shards).await?;
        if store.is_exclusive() {
            store.leases().reset_exclusive_leases().await?;
        }
        let settings = Settings::from_options(&config.engine);
        let node = carillon_accounts::secret::random_secret();
        let node: String = node.chars().take(16).collect();
        let limits = Limits { connect: settings.connect_timeout, request: settings.send_limit };
        let cluster = store.leases().cluster().await?;
        let lock = shard_lock(&config, &cluster, &node)?;
        let metrics = Arc::new(Metrics::new());
        let request_bytes = metrics.request_bytes.clone();
        let listener = listen(config.listen, tls(&config, config.tls.console())?, "--listen, CARILLON_LISTEN")?;
        let executors = match config.executor_listen {
            None => None,
            Some(address) => {
                let tls = tls(&config, config.tls.executors())?;
                Some(listen(address, tls, "--executor-listen, CARILLON_EXECUTOR_LISTEN")?)
            }
        };
        let listeners = executors.iter().chain([&listener]).map(|it| it.address).collect();
        let client_tls = config.tls.to_executors().map_err(|wrong| Error::Settings(wrong.to_string()))?;
        let rules = config.network_rules(listeners);
        // Channels are no executors, so the networks of those say nothing about them.
        let channels = Connector::new(NetworkRules { networks: None, ..rules.clone() });
        let http = Connector::new(config.http_rules(&rules));
        let http = HttpSender::new(http, config.secret_keys.clone()).map_err(Error::Settings)?;
        let connector = Connector::new(rules);
        let global = (!config.app_tokens_only).then_some(config.access_token.as_str());
        let tokens = Arc::new(ExecutorTokens::new(global, config.secret_keys.clone()).map_err(Error::Settings)?);
        let client = ExecutorClient::new(tokens, limits, connector, client_tls, clock.clone());
        let client = client.map_err(Error::Settings)?;
        let scheme = if listener.tls.is_some() { "https" } else { "http" };
        let address = format!("{scheme}://{}/", listener.address);
        let public = config.public_url.as_ref().map_or_else(|| address.clone(), PublicUrl::address);
        let callbacks = CallbackUrls::new(&public, &store.leases().callback_key().await?);
        let engine = Arc::new(Engine::build(EngineParts {
            store: store.clone(),
            clock: clock.clone(),
            metrics,
            client,
            http,
            lock,
            settings,
            node,
            cluster,
            callbacks,
            address,
            shards,
        }));
        engine.begin().await?;
        let first_admin = first_admin(&store, &config, clock.now()).await?;
        let openid = openid_provider(&config, &format!("{scheme}://{}", listener.address))?;
        let links = Links(config.public_url.as_ref().map(PublicUrl::address));
        let (keys, folder) = (config.secret_keys.clone(), config.data_dir.clone());
        let alerts = Alerts::new(engine.clone(), keys, folder, channels, links).await;
        let alerts = Arc::new(alerts.map_err(|error| Error::Settings(error.to_string()))?);
        let declarations = Arc::new(Declarations::new(engine.clone()));
        let ready = Arc::new(AtomicBool::new(false));
        let most = config.body_memory;
        let state = web::State {
            store: store.clone(),
            engine: engine.clone(),
            alerts: alerts.clone(),
            declarations: declarations.clone(),
            clock,
            requests: RateLimit::new(config.request_rate),
            // Its console goes on while one of its tokens is at its limit.
            requests_of_account: RateLimit::new(config.request_rate.saturating_mul(2)),
            registrations: RateLimit::new(config.registration_rate),
            config,
            openid,
            body_memory: BodyMemory::new(most, request_bytes),
            refused_executors: RefusedExecutors::default(),
            token_look_ups: TokenLookUps::default(),
            credential_look_ups: CredentialLookUps::default(),
            ready: ready.clone(),
        };
        let state = web::Shared::new(state);
        Ok(Self { first_admin, store, engine, alerts, declarations, state, listener, executors, ready })
    }

    /// Where it listens; the port is known even if 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// Where executors are answered.
    pub fn executor_address(&self) -> SocketAddr {
        self.executors.as_ref().unwrap_or(&self.listener).address
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
        let (address, executor_address) = (self.address(), self.executor_address());
        let state = self.state.clone();
        let servers = servers(self.listener, self.executors, self.state)?;
        let webs: Vec<_> = servers.iter().map(Server::handle).collect();
        let served: Vec<_> = servers.into_iter().map(tokio::spawn).collect();
        tokio::spawn(look_at_provider(state));
        let (takers, tasks) = (TaskTracker::new(), TaskTracker::new());
        let fatal = CancellationToken::new();
        let (taking, sending) = (CancellationToken::new(), CancellationToken::new());
        let services = &self.engine.services;
        services.run_taking(&takers, &taking, &fatal);
        self.alerts.run(&takers, &taking, &fatal);
        self.declarations.run(&takers, &taking, &fatal);
        services.run_scanners(&takers, &taking, &fatal);
        services.run_sending(&tasks, &sending, &fatal);
        self.ready.store(true, Ordering::Relaxed);
        log_zone_data();
        tracing::info!(listen.address = %address, listen.executors = %executor_address, node.id = self.engine.cx.node, shard.count = self.engine.shards(), "serving");
        tokio::select! {
            () = stop.cancelled() => {}
            () = fatal.cancelled() => return Err(Error::Services),
        }
        tracing::info!("stopping");
        self.ready.store(false, Ordering::Relaxed);
        taking.cancel();
        takers.close();
        // What a claim under way records is marked here, until another node has its shard.
        if tokio::time::timeout(HAND_OVER, takers.wait()).await.is_err() {
            tracing::warn!("a claim under way does not end; the next holder of its shard waits for it");
        }
        let orderly = async {
            stop_sending(&self.engine).await;
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
        let is_alone = !self.engine.services.coordinator.has_peers();
        if let Err(error) = self.store.return_ids(is_alone).await {
            tracing::warn!(%error, "unused ids are not given back; the numbers of jobs and runs go on behind a gap");
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
        Ok((self.engine.services.clone(), self.engine, self.store))
    }
}

/// Once, so that a wrong setting is in the log before the first person signs in.
async fn look_at_provider(state: web::Shared) {
    if let Some(provider) = &state.openid {
        provider.look(state.clock.now()).await;
    }
}

fn servers(listener: Listener, executors: Option<Listener>, state: web::Shared) -> std::io::Result<Vec<Server>> {
    let serve = |listener: Listener, role| {
        if let Some(tls) = &listener.tls {
            tls.watch();
        }
        web::serve(listener.socket, listener.tls, state.clone(), role)
    };
    let Some(apart) = executors else {
        return Ok(vec![serve(listener, ListenerRole::All)?]);
    };
    Ok(vec![serve(listener, ListenerRole::People)?, serve(apart, ListenerRole::Executors)?])
}

/// After the end of new shards and claims: leases back; due runs are marked until a peer refuses them; requests end.
async fn stop_sending(engine: &Engine) {
    let coordinator = &engine.services.coordinator;
    coordinator.release_all().await;
    let until = Instant::now() + HAND_OVER;
    while coordinator.has_peers() && Instant::now() < until && coordinator.may_still_mark().await {
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
    let store = Store::open_for(&(&config.database).into(), config.engine.lease_ttl, config.report_zone).await?;
    if config.no_migrate {
        store.check_schema().await?;
    } else {
        store.migrate().await?;
    }
    Ok(store)
}

/// The lock in front of the leases, for this node of this cluster.
///
/// # Errors
/// `Settings`: the URL or the certificate of Redis cannot be used.
pub fn shard_lock(config: &Config, cluster: &str, node: &str) -> Result<ShardLock, Error> {
    let Some(url) = &config.redis_url else {
        return Ok(ShardLock::Disabled);
    };
    let wrong = |setting, what: String| Error::Settings(Problem::new(setting, what).to_string());
    let ca = match &config.redis_ca {
        None => None,
        Some(path) => Some(std::fs::read(path).map_err(|error| {
            let what = format!("cannot read {}: {error}; name a PEM file", path.display());
            wrong("redis-ca", what)
        })?),
    };
    let setting = if config.redis_ca.is_some() { "redis-ca" } else { "redis-url" };
    let redis = Redis::new(url, ca.as_deref(), cluster, node).map_err(|what| wrong(setting, what))?;
    Ok(ShardLock::Redis(Box::new(redis)))
}

/// `address`: where the browser comes back to, unless the settings name another one.
fn openid_provider(config: &Config, address: &str) -> Result<Option<Provider>, Error> {
    let Some(settings) = &config.openid else {
        return Ok(None);
    };
    let address = config.public_url.as_ref().map_or_else(|| address.to_owned(), PublicUrl::address);
    let redirect = format!("{address}{}", web::OPENID_CALLBACK);
    let wrong = |wrong| Error::Settings(Problem::new("oidc-ca", wrong).to_string());
    let authorities = settings.authorities().map_err(wrong)?;
    let provider = Provider::new(settings.clone(), &redirect, authorities);
    provider.map(Some).map_err(|wrong| Error::Settings(Problem::new("oidc-issuer", wrong).to_string()))
}

async fn first_admin(store: &Store, config: &Config, now: Millis) -> Result<FirstAdmin, Error> {
    if !config.has_passwords {
        return Ok(FirstAdmin::Exists);
    }
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

/// Reads the certificate of a listener.
fn tls(config: &Config, files: Option<TlsFiles>) -> Result<Option<Arc<Tls>>, Error> {
    let loaded = files.map(Tls::load).transpose();
    loaded.map_err(|error| Error::Settings(config.tls.problem(&error).to_string()))
}

fn listen(address: SocketAddr, tls: Option<Arc<Tls>>, setting: &'static str) -> Result<Listener, Error> {
    let failed = |source| Error::Listen { address, setting, source };
    let socket = TcpListener::bind(address).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    Ok(Listener { socket, address, tls })
}

fn log_zone_data() {
    let data = zone_data();
    if let Some(error) = data.passed_over() {
        tracing::warn!(%error, "the system's time zone data is newer than what is compiled in, and cannot be used");
    }
    tracing::info!(zones.version = data.version(), zones.source = %data.source(), "time zone data is loaded");
}
