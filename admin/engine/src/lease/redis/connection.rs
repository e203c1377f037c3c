//! The connection: to one server, to the master that Sentinels name, or to a Cluster. The client connects to a server and a Cluster
//! when it is first used, and again after an error; of Sentinels it has only the search for the master.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection, PubSub};
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult,
    TlsCertificates, TlsMode, Value,
};

use crate::lease::redis::url::{RedisForm, RedisUrl};

/// For one answer, and for one connection.
const LIMIT: Duration = Duration::from_millis(500);
/// For finding out where the master is, and connecting.
const FIND_LIMIT: Duration = Duration::from_secs(3);

pub enum Connection {
    Single(ConnectionManager),
    Cluster(ClusterConnection),
    Sentinel(Master),
}

impl Connection {
    /// Does not wait for the server: it may be away at the start, as at any later time.
    pub fn new(url: &RedisUrl, ca: Option<&[u8]>) -> RedisResult<Self> {
        Ok(match &url.form {
            RedisForm::Single => Self::Single(single(url, ca)?),
            RedisForm::Cluster => Self::Cluster(cluster(url, ca)?),
            RedisForm::Sentinel { master } => Self::Sentinel(Master::new(sentinel(url, ca, master)?)),
        })
    }

    pub async fn get(&self) -> RedisResult<LiveConnection> {
        Ok(LiveConnection(match self {
            Self::Single(manager) => Box::new(manager.clone()),
            Self::Cluster(cluster) => Box::new(cluster.clone()),
            Self::Sentinel(master) => Box::new(master.get().await?),
        }))
    }

    /// An error came over it: the master may be another one by now.
    pub fn forget(&self) {
        if let Self::Sentinel(master) = self {
            master.forget();
        }
    }
}

/// The master that Sentinels name.
pub struct Master {
    client: Arc<tokio::sync::Mutex<SentinelClient>>,
    /// The last search, shared by all that wait for it.
    search: Mutex<Option<Search>>,
}

type Search = Shared<BoxFuture<'static, RedisResult<MultiplexedConnection>>>;

impl Master {
    fn new(client: SentinelClient) -> Self {
        Self { client: Arc::new(client.into()), search: Mutex::default() }
    }

    fn get(&self) -> Search {
        self.search.lock().get_or_insert_with(|| find(self.client.clone())).clone()
    }

    /// Not a search that is under way: its answer is for the next question.
    fn forget(&self) {
        self.search.lock().take_if(|search| search.peek().is_some());
    }
}

/// In a task of its own: a caller that stops waiting does not end the search.
fn find(client: Arc<tokio::sync::Mutex<SentinelClient>>) -> Search {
    let limits = AsyncConnectionConfig::new().set_connection_timeout(Some(LIMIT)).set_response_timeout(Some(LIMIT));
    let finding = async move { client.lock().await.get_async_connection_with_config(&limits).await };
    let task = tokio::spawn(tokio::time::timeout(FIND_LIMIT, finding));
    async move {
        match task.await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) | Err(_) => Err(RedisError::from((ErrorKind::Io, "the master was not found in time"))),
        }
    }
    .boxed()
    .shared()
}

/// Makes connections that listen to a channel.
pub struct Subscriber {
    url: RedisUrl,
    ca: Option<Vec<u8>>,
}

impl Subscriber {
    pub fn new(url: RedisUrl, ca: Option<&[u8]>) -> Self {
        Self { url, ca: ca.map(<[u8]>::to_vec) }
    }

    /// To the server, the master that Sentinels name, or the first node of a Cluster that answers: a message reaches all of them. Without
    /// a limit of time.
    pub async fn connect(&self) -> RedisResult<PubSub> {
        let ca = self.ca.as_deref();
        if let RedisForm::Sentinel { master } = &self.url.form {
            let master = sentinel(&self.url, ca, master)?.async_get_client().await?;
            return master.get_async_pubsub().await;
        }
        let mut last = None;
        for server in &self.url.servers {
            match client(server, self.url.tls, ca)?.get_async_pubsub().await {
                Ok(subscription) => return Ok(subscription),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| RedisError::from((ErrorKind::Io, "no server is named"))))
    }
}

fn client(server: &ConnectionInfo, tls: bool, ca: Option<&[u8]>) -> RedisResult<Client> {
    match tls {
        true => Client::build_with_tls(server.clone(), certificates(ca)),
        false => Client::open(server.clone()),
    }
}

/// Without a CA the certificates that this machine trusts.
fn certificates(ca: Option<&[u8]>) -> TlsCertificates {
    TlsCertificates { client_tls: None, root_cert: ca.map(<[u8]>::to_vec) }
}

fn single(url: &RedisUrl, ca: Option<&[u8]>) -> RedisResult<ConnectionManager> {
    let client = client(&url.servers[0], url.tls, ca)?;
    let limits = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(LIMIT))
        .set_response_timeout(Some(LIMIT))
        .set_number_of_retries(1)
        .set_max_delay(LIMIT);
    ConnectionManager::new_lazy_with_config(client, limits)
}

fn cluster(url: &RedisUrl, ca: Option<&[u8]>) -> RedisResult<ClusterConnection> {
    let mut builder = ClusterClient::builder(url.servers.iter().cloned()).retries(1);
    if url.tls {
        builder = builder.certs(certificates(ca));
    }
    let limits = ClusterConfig::new().set_connection_timeout(LIMIT).set_response_timeout(LIMIT);
    Ok(builder.build()?.get_pending_async_connection_with_config(limits))
}

fn sentinel(url: &RedisUrl, ca: Option<&[u8]>, master: &str) -> RedisResult<SentinelClient> {
    let data = url.servers[0].redis_settings();
    let sentinels = url.servers.iter().map(|server| server.addr().clone());
    let mut builder =
        SentinelClientBuilder::new(sentinels, master, SentinelServerType::Master)?.set_client_to_redis_db(data.db());
    if url.tls {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_redis_certificates(certificates(ca))
            .set_client_to_sentinel_tls_mode(TlsMode::Secure)
            .set_client_to_sentinel_certificates(certificates(ca));
    }
    if let Some(user) = data.username() {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = data.password() {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(user) = &url.sentinel_user {
        builder = builder.set_client_to_sentinel_username(user);
    }
    if let Some(password) = &url.sentinel_password {
        builder = builder.set_client_to_sentinel_password(password);
    }
    builder.build()
}

/// A connection of any kind.
pub struct LiveConnection(Box<dyn ConnectionLike + Send + Sync>);

impl ConnectionLike for LiveConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        self.0.req_packed_command(cmd)
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.0.req_packed_commands(pipeline, offset, count)
    }

    fn get_db(&self) -> i64 {
        self.0.get_db()
    }
}
