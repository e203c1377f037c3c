//! The connection: to one server, to the master that Sentinels name, or to a Cluster. Made when it is needed, and made anew
//! after an error.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult,
    TlsCertificates, TlsMode, Value,
};
use tokio::time::Instant;

use crate::lease::redis::url::{RedisForm, RedisUrl};
use crate::runtime::lock;

/// For one answer, and for one connection.
const LIMIT: Duration = Duration::from_millis(500);
/// For finding out where the master or the Cluster is, and connecting.
const FIND_LIMIT: Duration = Duration::from_secs(3);
/// The pause after a failed attempt: many shards ask at once.
const PAUSE: Duration = Duration::from_millis(400);

#[derive(Clone)]
pub struct Connection(Arc<Backend>);

enum Backend {
    /// Connects anew by itself.
    Single(ConnectionManager),
    Found {
        finder: tokio::sync::Mutex<Finder>,
        live: Mutex<Option<LiveConnection>>,
    },
}

struct Finder {
    discovery: Discovery,
    failed: Option<(Instant, String)>,
}

enum Discovery {
    Sentinel(Box<SentinelClient>),
    Cluster(Box<ClusterClient>),
}

/// A connection that stands.
#[derive(Clone)]
pub enum LiveConnection {
    Single(ConnectionManager),
    Master(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    /// Does not wait for the server: it may be away at the start, as at any later time.
    pub fn new(url: &str, place: &RedisUrl, ca: Option<&[u8]>) -> RedisResult<Self> {
        let backend = match &place.form {
            RedisForm::Single => Backend::Single(single(url, place, ca)?),
            RedisForm::Sentinel { master } => found(Discovery::Sentinel(Box::new(sentinel(place, ca, master)?))),
            RedisForm::Cluster => found(Discovery::Cluster(Box::new(cluster(place, ca)?))),
        };
        Ok(Self(Arc::new(backend)))
    }

    pub async fn get(&self) -> RedisResult<LiveConnection> {
        let live = match &*self.0 {
            Backend::Single(manager) => return Ok(LiveConnection::Single(manager.clone())),
            Backend::Found { live, .. } => live,
        };
        if let Some(live) = &*lock(live) {
            return Ok(live.clone());
        }
        // In a task of its own: a caller that stops waiting does not end the search, and the next one finds its result.
        let this = self.clone();
        match tokio::spawn(async move { this.find().await }).await {
            Ok(found) => found,
            Err(_) => Err(failed("the search was ended".into())),
        }
    }

    /// An error came over it: the master may be another one by now.
    pub fn forget(&self) {
        if let Backend::Found { live, .. } = &*self.0 {
            *lock(live) = None;
        }
    }

    async fn find(&self) -> RedisResult<LiveConnection> {
        let Backend::Found { finder, live } = &*self.0 else {
            return self.0.single();
        };
        let mut finder = finder.lock().await;
        if let Some(live) = &*lock(live) {
            return Ok(live.clone());
        }
        if let Some((at, why)) = &finder.failed
            && at.elapsed() < PAUSE
        {
            return Err(failed(why.clone()));
        }
        let found = match tokio::time::timeout(FIND_LIMIT, finder.discovery.connect()).await {
            Ok(found) => found,
            Err(_) => Err(failed("no answer in time".into())),
        };
        finder.failed = found.as_ref().err().map(|error| (Instant::now(), error.to_string()));
        let found = found?;
        *lock(live) = Some(found.clone());
        Ok(found)
    }
}

impl Backend {
    fn single(&self) -> RedisResult<LiveConnection> {
        match self {
            Self::Single(manager) => Ok(LiveConnection::Single(manager.clone())),
            Self::Found { .. } => Err(failed("not connected".into())),
        }
    }
}

impl Discovery {
    async fn connect(&mut self) -> RedisResult<LiveConnection> {
        match self {
            Self::Sentinel(client) => {
                let limits =
                    AsyncConnectionConfig::new().set_connection_timeout(Some(LIMIT)).set_response_timeout(Some(LIMIT));
                let master = client.get_async_connection_with_config(&limits).await?;
                Ok(LiveConnection::Master(master))
            }
            Self::Cluster(client) => Ok(LiveConnection::Cluster(client.get_async_connection().await?)),
        }
    }
}

fn found(discovery: Discovery) -> Backend {
    Backend::Found { finder: tokio::sync::Mutex::new(Finder { discovery, failed: None }), live: Mutex::new(None) }
}

fn failed(why: String) -> RedisError {
    (ErrorKind::Io, "not connected", why).into()
}

/// Without a CA the certificates that this machine trusts.
fn certificates(ca: Option<&[u8]>) -> TlsCertificates {
    TlsCertificates { client_tls: None, root_cert: ca.map(<[u8]>::to_vec) }
}

fn single(url: &str, place: &RedisUrl, ca: Option<&[u8]>) -> RedisResult<ConnectionManager> {
    let client = match place.tls {
        true => Client::build_with_tls(url, certificates(ca))?,
        false => Client::open(url)?,
    };
    let limits = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(LIMIT))
        .set_response_timeout(Some(LIMIT))
        .set_number_of_retries(1)
        .set_max_delay(LIMIT);
    ConnectionManager::new_lazy_with_config(client, limits)
}

fn sentinel(place: &RedisUrl, ca: Option<&[u8]>, master: &str) -> RedisResult<SentinelClient> {
    let hosts = place.hosts.iter().map(|(host, port)| match place.tls {
        false => ConnectionAddr::Tcp(host.clone(), *port),
        true => ConnectionAddr::TcpTls { host: host.clone(), port: *port, insecure: false, tls_params: None },
    });
    let mut builder =
        SentinelClientBuilder::new(hosts, master, SentinelServerType::Master)?.set_client_to_redis_db(place.database);
    if place.tls {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_redis_certificates(certificates(ca))
            .set_client_to_sentinel_tls_mode(TlsMode::Secure)
            .set_client_to_sentinel_certificates(certificates(ca));
    }
    if let Some(user) = &place.user {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = &place.password {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(user) = &place.sentinel_user {
        builder = builder.set_client_to_sentinel_username(user);
    }
    if let Some(password) = &place.sentinel_password {
        builder = builder.set_client_to_sentinel_password(password);
    }
    builder.build()
}

fn cluster(place: &RedisUrl, ca: Option<&[u8]>) -> RedisResult<ClusterClient> {
    let scheme = if place.tls { "rediss" } else { "redis" };
    let nodes = place.hosts.iter().map(|(host, port)| match host.contains(':') {
        true => format!("{scheme}://[{host}]:{port}"),
        false => format!("{scheme}://{host}:{port}"),
    });
    let mut builder = ClusterClient::builder(nodes).connection_timeout(LIMIT).response_timeout(LIMIT).retries(1);
    if place.tls {
        builder = builder.tls(TlsMode::Secure).certs(certificates(ca));
    }
    if let Some(user) = &place.user {
        builder = builder.username(user);
    }
    if let Some(password) = &place.password {
        builder = builder.password(password);
    }
    builder.build()
}

impl ConnectionLike for LiveConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Single(to) => to.req_packed_command(cmd),
            Self::Master(to) => to.req_packed_command(cmd),
            Self::Cluster(to) => to.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Single(to) => to.req_packed_commands(pipeline, offset, count),
            Self::Master(to) => to.req_packed_commands(pipeline, offset, count),
            Self::Cluster(to) => to.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Single(to) => to.get_db(),
            Self::Master(to) => to.get_db(),
            Self::Cluster(to) => to.get_db(),
        }
    }
}
