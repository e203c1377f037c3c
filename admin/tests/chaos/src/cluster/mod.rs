//! The processes under test: a database, two Redis (one for a split), three nodes, four executors, and a wire between any
//! two of them.

pub mod admin;
pub mod database;
mod item_tables;
mod mariadb;
pub mod observer;
pub mod postgres;
pub mod process;
pub mod recorder;
pub mod redis;
pub mod server;
pub mod services;
mod small_disk;
mod supervise;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Mutex as Turn;

use self::admin::{Admin, Ways};
use self::database::Database;
use self::observer::Observer;
use self::recorder::Recorder;
use self::server::Server;
use self::services::Services;
use self::small_disk::SmallDisk;
use crate::executor::Kind;
use crate::options::{Db, Options};
use crate::random::secret;
use crate::record::Exit;

pub use supervise::supervise;

/// What the nodes and their clients present to each other; new for each run.
#[derive(Clone, Debug)]
pub struct Secrets {
    pub access: String,
    pub api: String,
}

pub struct Cluster {
    pub options: Options,
    pub secrets: Secrets,
    /// None: SQLite, which is inside the node.
    pub server: Option<Turn<Server>>,
    pub database: Database,
    pub redis: Option<Turn<Server>>,
    /// The one that a split node is led to.
    pub other_redis: Option<Turn<Server>>,
    pub admins: Vec<Arc<Admin>>,
    pub recorders: Vec<Arc<Recorder>>,
    /// Sees the calls of loops.
    pub observer: Observer,
    /// What HTTP jobs call.
    pub services: Services,
    /// Where the database's data lie, if a fault fills it.
    pub disk: Option<SmallDisk>,
    exits: Mutex<Vec<Exit>>,
    _outside: Outside,
}

/// A folder with a short path that other users can reach: sockets, PostgreSQL's data. Removed at the end.
struct Outside(PathBuf);

impl Outside {
    fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("carillon-chaos.{}", &secret()?[..12]));
        std::fs::create_dir(&path)?;
        // Users who may not list it can still reach a folder of their own below it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(&path, open)?;
        Ok(Self(path))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const EXECUTORS: [(&str, Kind); 4] = [("e1", Kind::Sdk), ("e2", Kind::Sdk), ("e3", Kind::Stock), ("e4", Kind::Stock)];

impl Cluster {
    /// All of it, ready.
    pub async fn start(options: &Options, folder: &Path) -> anyhow::Result<Self> {
        let outside = Outside::new()?;
        let secrets = Secrets { access: secret()?, api: secret()? };
        let wants_disk = options.fills_the_disk() && options.db != Db::Sqlite;
        let disk = wants_disk.then(|| SmallDisk::mount(outside.0.join("disk"))).transpose()?;
        let data = disk.as_ref().map_or(&*outside.0, SmallDisk::path);
        let (server, redis, other_redis, ways, database) = servers(options, folder, &outside.0, data).await?;
        let mut admins = Vec::new();
        for ways in ways {
            let admin = Admin::prepare(ways, options, folder, &secrets).await?;
            // One after the other: the first one makes the tables.
            admin.start().await?;
            admins.push(Arc::new(admin));
        }
        let database = database.open(folder).await?;
        let observer = Observer::start(outside.0.join("observer"), folder)?;
        let mut recorders = Vec::new();
        let addresses: Vec<String> = admins.iter().map(|admin| admin.wire.url()).collect();
        for (name, kind) in EXECUTORS {
            let recorder = Recorder::prepare(name, kind, &addresses, folder, &secrets.access, &observer.path).await?;
            recorder.start().await?;
            recorders.push(Arc::new(recorder));
        }
        Ok(Self {
            options: options.clone(),
            secrets,
            server: server.map(Turn::new),
            database,
            redis: redis.map(Turn::new),
            other_redis: other_redis.map(Turn::new),
            admins,
            recorders,
            observer,
            services: Services::start(folder).await?,
            disk,
            exits: Mutex::default(),
            _outside: outside,
        })
    }

    pub fn exits(&self) -> MutexGuard<'_, Vec<Exit>> {
        self.exits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All ends of nodes, those before they were ready too, in their order.
    pub fn all_exits(&self) -> Vec<Exit> {
        let mut all = self.exits().clone();
        for admin in &self.admins {
            let of_admin = admin.failed_starts.lock();
            all.extend_from_slice(&of_admin.unwrap_or_else(PoisonError::into_inner));
        }
        all.sort_by_key(|exit| exit.at);
        all
    }

    /// Every wire as it was made.
    pub fn recover_wires(&self) {
        for admin in &self.admins {
            admin.wire.recover();
            admin.ways.recover();
        }
        for recorder in &self.recorders {
            recorder.wire.recover();
        }
    }

    /// Executors first, so that their last results are taken; then the nodes; then the servers.
    pub async fn stop(&self) {
        for recorder in &self.recorders {
            recorder.stop().await;
        }
        for admin in &self.admins {
            let stopped = admin.terminate("stop").await;
            self.exits().extend(stopped);
        }
        for server in [&self.redis, &self.other_redis].into_iter().flatten() {
            server.lock().await.stop("TERM").await;
        }
        if let Some(server) = &self.server {
            // PostgreSQL takes SIGTERM as a wish to wait for its clients.
            let signal = if self.options.db == Db::Postgres { "INT" } else { "TERM" };
            server.lock().await.stop(signal).await;
        }
    }
}

type Servers = (Option<Server>, Option<Server>, Option<Server>, Vec<Ways>, database::Place);

/// The servers, and each node's own wires to them.
async fn servers(options: &Options, folder: &Path, outside: &Path, data: &Path) -> anyhow::Result<Servers> {
    if options.db == Db::Sqlite {
        let ways = Ways::none("a1");
        let place = database::Place::file(folder.join("a1/carillon.db"));
        return Ok((None, None, None, vec![ways], place));
    }
    let log = |name: &str| folder.join(format!("{name}.log"));
    let connections = 200;
    let (server, url) = match options.db {
        Db::Mariadb => mariadb::start(outside, data, log("database"), connections).await?,
        _ => postgres::start(outside, data, log("database"), connections).await?,
    };
    let (redis, password) = redis::start(outside, "redis", log("redis"), None).await?;
    let (other, _) = redis::start(outside, "other-redis", log("redis"), Some(password.clone())).await?;
    let mut ways = Vec::new();
    for name in ["a1", "a2", "a3"] {
        ways.push(Ways::open(name, &server, &url, &redis, &password).await?);
    }
    let place = database::Place::server(format!("{url}{}/carillon", server.address()));
    Ok((Some(server), Some(redis), Some(other), ways, place))
}
