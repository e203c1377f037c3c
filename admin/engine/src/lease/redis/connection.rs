//! The connection: to one server, to the master that Sentinels name, or to a Cluster. Made when it is needed, and made anew
//! after an error.

use std::sync::{Arc, Mutex, PoisonError};
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

use crate::lease::lock::{Place, Servers};

/// For one answer, and for one connection.
const LIMIT: Duration = Duration::from_millis(500);
/// For finding out where the master or the Cluster is, and connecting.
const FIND_LIMIT: Duration = Duration::from_secs(3);
/// After a failure the next attempt waits so long: many shards ask at once.
const PAUSE: Duration = Duration::from_millis(400);

#[derive(Clone)]
pub struct Connection(Arc<Way>);

enum Way {
    /// Connects anew by itself.
    Single(ConnectionManager),
    Found {
        finder: tokio::sync::Mutex<Finder>,
        live: Mutex<Option<Live>>,
    },
}

struct Finder {
    by: By,
    failed: Option<(Instant, String)>,
}

enum By {
    Sentinel(Box<SentinelClient>),
    Cluster(Box<ClusterClient>),
}

/// A connection that stands.
#[derive(Clone)]
pub enum Live {
    Single(ConnectionManager),
    Master(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    /// Does not wait for the server: it may be away at the start, as at any later time.
    pub fn new(place: &Place) -> RedisResult<Self> {
        let way = match &place.servers {
            Servers::Single { url } => Way::Single(single(url, place)?),
            Servers::Sentinel { master } => found(By::Sentinel(Box::new(sentinel(place, master)?))),
            Servers::Cluster => found(By::Cluster(Box::new(cluster(place)?))),
        };
        Ok(Self(Arc::new(way)))
    }

    pub async fn get(&self) -> RedisResult<Live> {
        let live = match &*self.0 {
            Way::Single(manager) => return Ok(Live::Single(manager.clone())),
            Way::Found { live, .. } => live,
        };
        if let Some(live) = &*live.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(live.clone());
        }
        // In a task of its own: whoever gives up waiting does not end the search, and the next one finds its result.
        let this = self.clone();
        match tokio::spawn(async move { this.find().await }).await {
            Ok(found) => found,
            Err(_) => Err(failed("the search was ended".into())),
        }
    }

    /// An error came over it: the master may be another one by now.
    pub fn forget(&self) {
        if let Way::Found { live, .. } = &*self.0 {
            *live.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    async fn find(&self) -> RedisResult<Live> {
        let Way::Found { finder, live } = &*self.0 else {
            return self.0.single();
        };
        let mut finder = finder.lock().await;
        if let Some(live) = &*live.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(live.clone());
        }
        if let Some((at, why)) = &finder.failed
            && at.elapsed() < PAUSE
        {
            return Err(failed(why.clone()));
        }
        let found = match tokio::time::timeout(FIND_LIMIT, finder.by.connect()).await {
            Ok(found) => found,
            Err(_) => Err(failed("no answer in time".into())),
        };
        finder.failed = found.as_ref().err().map(|error| (Instant::now(), error.to_string()));
        let found = found?;
        *live.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
        Ok(found)
    }
}

impl Way {
    fn single(&self) -> RedisResult<Live> {
        match self {
            Self::Single(manager) => Ok(Live::Single(manager.clone())),
            Self::Found { .. } => Err(failed("not connected".into())),
        }
    }
}

impl By {
    async fn connect(&mut self) -> RedisResult<Live> {
        match self {
            Self::Sentinel(client) => {
                let limits =
                    AsyncConnectionConfig::new().set_connection_timeout(Some(LIMIT)).set_response_timeout(Some(LIMIT));
                let master = client.get_async_connection_with_config(&limits).await?;
                Ok(Live::Master(master))
            }
            Self::Cluster(client) => Ok(Live::Cluster(client.get_async_connection().await?)),
        }
    }
}

fn found(by: By) -> Way {
    Way::Found { finder: tokio::sync::Mutex::new(Finder { by, failed: None }), live: Mutex::new(None) }
}

fn failed(why: String) -> RedisError {
    (ErrorKind::Io, "not connected", why).into()
}

fn certificates(place: &Place) -> TlsCertificates {
    TlsCertificates { client_tls: None, root_cert: place.ca.clone() }
}

fn single(url: &str, place: &Place) -> RedisResult<ConnectionManager> {
    let client = match place.tls {
        true => Client::build_with_tls(url, certificates(place))?,
        false => Client::open(url)?,
    };
    let limits = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(LIMIT))
        .set_response_timeout(Some(LIMIT))
        .set_number_of_retries(1)
        .set_max_delay(LIMIT);
    ConnectionManager::new_lazy_with_config(client, limits)
}

fn sentinel(place: &Place, master: &str) -> RedisResult<SentinelClient> {
    let hosts = place.hosts.iter().map(|(host, port)| match place.tls {
        false => ConnectionAddr::Tcp(host.clone(), *port),
        true => ConnectionAddr::TcpTls { host: host.clone(), port: *port, insecure: false, tls_params: None },
    });
    let mut builder =
        SentinelClientBuilder::new(hosts, master, SentinelServerType::Master)?.set_client_to_redis_db(place.database);
    if place.tls {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_redis_certificates(certificates(place))
            .set_client_to_sentinel_tls_mode(TlsMode::Secure)
            .set_client_to_sentinel_certificates(certificates(place));
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

fn cluster(place: &Place) -> RedisResult<ClusterClient> {
    let scheme = if place.tls { "rediss" } else { "redis" };
    let nodes = place.hosts.iter().map(|(host, port)| match host.contains(':') {
        true => format!("{scheme}://[{host}]:{port}"),
        false => format!("{scheme}://{host}:{port}"),
    });
    let mut builder = ClusterClient::builder(nodes).connection_timeout(LIMIT).response_timeout(LIMIT).retries(1);
    if place.tls {
        builder = builder.tls(TlsMode::Secure).certs(certificates(place));
    }
    if let Some(user) = &place.user {
        builder = builder.username(user);
    }
    if let Some(password) = &place.password {
        builder = builder.password(password);
    }
    builder.build()
}

impl ConnectionLike for Live {
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
