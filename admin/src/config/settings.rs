use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use carillon_accounts::openid;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_engine::Options;
use carillon_scheduler::Zone;

use crate::config::database::Database;
use crate::config::networks::Networks;
use crate::config::public_url::PublicUrl;
use crate::config::tls::TlsSettings;

/// How log lines are written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// One readable line an event.
    #[default]
    Text,
    /// One JSON object an event, for a log collector.
    Json,
}

/// The settings of one node.
///
/// The default of each field is the one that `carillon serve --help` shows. Secrets are left out of the `Debug` form.
#[derive(Clone, PartialEq, Eq)]
pub struct Config {
    /// Where console, API and executors are answered.
    pub listen: SocketAddr,
    /// Where executors alone are answered, in place of `listen`.
    pub executor_listen: Option<SocketAddr>,
    /// Certificates; without one the listeners speak plain HTTP.
    pub tls: TlsSettings,
    /// Where people reach the console; without it, wherever their browsers say.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose `X-Forwarded-…` headers count.
    pub trusted_proxies: Networks,
    /// Allow plain HTTP on an address that is not loopback.
    pub insecure_http: bool,
    /// The networks that executors are in; `None`: all but those where none can be.
    pub executor_networks: Option<Networks>,
    /// The private networks that HTTP jobs may call beside public addresses; `None`: no private ones.
    pub http_networks: Option<Networks>,
    /// Folder of the node's own files; created when missing.
    pub data_dir: PathBuf,
    /// Where jobs and runs are stored.
    pub database: Database,
    /// Refuse a database with an older schema instead of migrating it.
    pub no_migrate: bool,
    /// As [`RedisUrl::parse`](crate::config::RedisUrl::parse) reads it; without it the lease in the database is enough.
    pub redis_url: Option<String>,
    /// PEM file with the authority that has signed Redis' certificate; `None`: those that this machine trusts.
    pub redis_ca: Option<PathBuf>,
    /// Shards of a new database (`None`: 8), and what an existing one must agree with (`None`: anything).
    pub shards: Option<i32>,
    /// What executors present and what is sent to them; at least 16 characters.
    pub access_token: String,
    /// Executors use tokens of their apps alone; `access_token` is neither accepted nor sent.
    pub app_tokens_only: bool,
    /// Password of the first administrator, `admin`, on an empty database; 10 to 128 characters.
    pub admin_password: Option<String>,
    /// A management token with all rights; at least 16 characters.
    pub api_token: Option<String>,
    /// Encrypt the secrets that the database keeps.
    pub secret_keys: SecretKeys,
    /// The OpenID provider that people sign in with, beside passwords or in place of them.
    pub openid: Option<openid::Settings>,
    /// Whether people sign in with passwords.
    pub has_passwords: bool,
    /// Ask a second factor of administrators who sign in with a password.
    pub admin_second_factor: bool,
    /// Answer the HTTP calls of xxl-job's console.
    pub xxl_console_api: bool,
    /// The zone whose days the reports count.
    pub report_zone: Zone,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// Requests a second of one account or API token; 1 to 100,000.
    pub request_rate: u32,
    /// Registrations a second with one executor token; 1 to 100,000.
    pub registration_rate: u32,
    /// How the engine works: leases, time limits, bounds.
    pub engine: Options,
    /// Bytes of request bodies that are held at once; above it requests are refused. No flag: for tests.
    pub body_memory: usize,
}

impl Config {
    /// The defaults, on a SQLite file in `data_dir`.
    pub fn new(data_dir: impl Into<PathBuf>, access_token: impl Into<String>) -> Self {
        let data_dir = data_dir.into();
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            executor_listen: None,
            tls: TlsSettings::default(),
            public_url: None,
            trusted_proxies: Networks::default(),
            insecure_http: false,
            executor_networks: None,
            http_networks: None,
            database: Database::in_folder(&data_dir),
            data_dir,
            no_migrate: false,
            redis_url: None,
            redis_ca: None,
            shards: None,
            access_token: access_token.into(),
            app_tokens_only: false,
            admin_password: None,
            api_token: None,
            secret_keys: SecretKeys::default(),
            openid: None,
            has_passwords: true,
            admin_second_factor: false,
            xxl_console_api: false,
            report_zone: Zone::UTC,
            log_format: LogFormat::Text,
            request_rate: 1000,
            registration_rate: 500,
            engine: Options::default(),
            body_memory: 128 << 20,
        }
    }

    /// Whether browsers reach the console by TLS.
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().map_or(self.tls.cert.is_some(), PublicUrl::is_https)
    }

    /// Below which path of its host the console is: `/carillon`, or empty.
    pub fn path_prefix(&self) -> &str {
        self.public_url.as_ref().map_or("", PublicUrl::path)
    }

    /// Where executors are answered.
    pub fn executors_at(&self) -> SocketAddr {
        self.executor_listen.unwrap_or(self.listen)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("data_dir", &self.data_dir)
            .field("database", &self.database)
            .field("redis", &self.redis_url.is_some())
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}
