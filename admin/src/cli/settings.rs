//! The settings as flags and environment variables. Their comments are what `--help` shows: the operator's manual.
//!
//! Values are read as text and parsed in `values.rs`, so that all wrong ones are reported at once: clap would stop at the first.

use std::path::PathBuf;

use clap::Args;

use super::limit_settings::LimitSettings;
use super::secret_files::SecretFiles;

/// Where jobs and runs are stored.
#[derive(Args, Clone)]
#[command(next_help_heading = "Storage")]
pub struct DatabaseSettings {
    /// Folder of this node's own files; created when missing [default: ./carillon-data]
    #[arg(long, env = "CARILLON_DATA_DIR", value_name = "FOLDER")]
    pub data_dir: Option<String>,

    /// sqlite:PATH, postgres://user:password@host:5432/name or mysql://user:password@host:3306/name, the latter for
    /// MariaDB too [default: sqlite:FOLDER/carillon.db]
    ///
    /// A SQLite file belongs to one process; the others may be shared by several nodes.
    #[arg(long, env = "CARILLON_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,

    /// File with what --database-url would hold
    #[arg(long, env = "CARILLON_DATABASE_URL_FILE", value_name = "FILE")]
    pub database_url_file: Option<String>,
}

/// The time zone data of the process, whatever it does.
#[derive(Args, Clone)]
#[command(next_help_heading = "Time zones")]
pub struct ZoneSettings {
    /// Folder of compiled time zones, as tzdata has it [default: /usr/share/zoneinfo if it is at least as new as what is
    /// compiled in, else what is compiled in]
    ///
    /// The data is read once: an update takes effect at the next start.
    #[arg(long, env = "CARILLON_ZONEINFO", value_name = "FOLDER", global = true)]
    pub zoneinfo: Option<PathBuf>,
}

/// The settings of a node.
#[derive(Args, Clone)]
#[command(next_help_heading = "Network")]
pub struct ServeSettings {
    /// IP address and port of console, API and executor protocol
    #[arg(long, env = "CARILLON_LISTEN", value_name = "IP:PORT", default_value = "127.0.0.1:8080")]
    pub listen: String,

    /// IP address and port of the executor protocol alone; --listen then no longer serves it [default: --listen serves
    /// all]
    ///
    /// So executors and people can be kept on different networks, and neither can use up the connections of the other.
    #[arg(long, env = "CARILLON_EXECUTOR_LISTEN", value_name = "IP:PORT")]
    pub executor_listen: Option<String>,

    /// PEM file with the certificate that this node shows, and those between it and its authority [default: plain HTTP]
    ///
    /// It is read again when it changes.
    #[arg(long, env = "CARILLON_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<String>,

    /// PEM file with the private key of --tls-cert
    #[arg(long, env = "CARILLON_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<String>,

    /// PEM file with the certificate of --executor-listen [default: --tls-cert]
    #[arg(long, env = "CARILLON_EXECUTOR_TLS_CERT", value_name = "FILE")]
    pub executor_tls_cert: Option<String>,

    /// PEM file with the private key of --executor-tls-cert
    #[arg(long, env = "CARILLON_EXECUTOR_TLS_KEY", value_name = "FILE")]
    pub executor_tls_key: Option<String>,

    /// PEM file with an authority: on --executor-listen, each executor must show a certificate that it has signed
    /// [default: none is asked for]
    #[arg(long, env = "CARILLON_EXECUTOR_TLS_CLIENT_CA", value_name = "FILE")]
    pub executor_tls_client_ca: Option<String>,

    /// PEM file with the authority of the certificates of https executors [default: those that this machine trusts]
    #[arg(long, env = "CARILLON_EXECUTOR_CA", value_name = "FILE")]
    pub executor_ca: Option<String>,

    /// PEM file with the certificate that this node shows to executors that ask for one [default: none]
    #[arg(long, env = "CARILLON_EXECUTOR_CLIENT_CERT", value_name = "FILE")]
    pub executor_client_cert: Option<String>,

    /// PEM file with the private key of --executor-client-cert
    #[arg(long, env = "CARILLON_EXECUTOR_CLIENT_KEY", value_name = "FILE")]
    pub executor_client_key: Option<String>,

    /// Where people reach the console, such as `https://carillon.example.com` [default: wherever their browsers ask for it]
    ///
    /// The console then answers under this address only, and links are made with it. With https, its cookies are sent by
    /// TLS alone, and browsers are told to use no plain HTTP.
    #[arg(long, env = "CARILLON_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,

    /// IP addresses and networks of the proxies in front of this node, with commas between them [default: none]
    ///
    /// From them alone X-Forwarded-For is believed: what is limited and recorded by the client's address then means the
    /// client and not the proxy.
    #[arg(long, env = "CARILLON_TRUSTED_PROXIES", value_name = "NETWORKS")]
    pub trusted_proxies: Option<String>,

    /// Allow plain HTTP on an address that other machines reach: behind a proxy that speaks TLS, or in a closed network
    #[arg(long, env = "CARILLON_INSECURE_HTTP")]
    pub insecure_http: bool,

    /// Allow script jobs: people with the right to scripts save sources here, and executors that can run them get them
    ///
    /// Without it no script is saved, and runs of stored script jobs fail before they are sent.
    #[arg(long, env = "CARILLON_SCRIPTS")]
    pub scripts: bool,

    /// Networks that executors are in, such as 10.0.0.0/8,fd12::/64 [default: all]
    ///
    /// An address outside of them is neither registered nor connected to, whatever its name resolves to. Always refused are
    /// the metadata addresses of clouds, link-local, multicast and unspecified ones, the listeners of this node, its database
    /// and its Redis; loopback is allowed only while --listen (or --executor-listen) is there, or if it is named here.
    #[arg(long, env = "CARILLON_EXECUTOR_NETWORKS", value_name = "NETWORKS")]
    pub executor_networks: Option<String>,

    /// Private networks that HTTP jobs may call beside public addresses, such as 10.0.0.0/8,127.0.0.1 [default: none]
    ///
    /// Requests of HTTP jobs go to public addresses, and to private ones and loopback only if they are named here. The addresses that
    /// are always refused for executors are refused for them too.
    #[arg(long, env = "CARILLON_HTTP_NETWORKS", value_name = "NETWORKS")]
    pub http_networks: Option<String>,

    #[command(flatten)]
    pub database: DatabaseSettings,

    /// Refuse a database with an older schema instead of migrating it
    #[arg(long, env = "CARILLON_NO_MIGRATE", help_heading = "Storage")]
    pub no_migrate: bool,

    /// redis://user:password@host:6379/, redis+sentinel://host:26379,host:26379/MASTER or
    /// redis+cluster://host:6379,host:6379, each also as rediss… with TLS [default: none; the leases in the database are
    /// enough]
    ///
    /// It saves the database work. What is correct is decided by the database alone; when Redis is lost, scheduling goes
    /// on. Sentinels have credentials of their own: ?sentinel_user=…&sentinel_password=…
    #[arg(long, env = "CARILLON_REDIS_URL", value_name = "URL", hide_env_values = true, help_heading = "Storage")]
    pub redis_url: Option<String>,

    /// PEM file with the authority that has signed the certificate of a rediss… server [default: those that this machine
    /// trusts]
    #[arg(long, env = "CARILLON_REDIS_CA", value_name = "FILE", help_heading = "Storage")]
    pub redis_ca: Option<String>,

    /// Shards that the jobs are divided into, 1 to 1024: chosen on an empty database, and must agree with it later
    /// [default: 8, or what the database has]
    ///
    /// `carillon shards set` changes the number while nodes run.
    #[arg(long, env = "CARILLON_SHARDS", value_name = "NUMBER", help_heading = "Storage")]
    pub shards: Option<String>,

    /// Token that executors present and that is sent to them, at least 16 characters [default on SQLite: a random one,
    /// kept in FOLDER/access-token]
    ///
    /// Required with PostgreSQL and MySQL, the same on every node. As a flag it can be seen in the list of processes;
    /// prefer the variable.
    #[arg(long, env = "CARILLON_ACCESS_TOKEN", value_name = "TOKEN", hide_env_values = true, help_heading = "Secrets")]
    pub access_token: Option<String>,

    /// Accept and send the tokens of apps alone: there is no token of all apps
    ///
    /// Needs --secret-key or --secret-key-file, and each app a token before its executors can register.
    #[arg(long, env = "CARILLON_APP_TOKENS_ONLY", help_heading = "Secrets")]
    pub app_tokens_only: bool,

    /// Password of the first administrator, `admin`, 10 to 128 characters; used on an empty database only [default: a
    /// one-time set-up secret is printed instead]
    #[arg(
        long,
        env = "CARILLON_ADMIN_PASSWORD",
        value_name = "PASSWORD",
        hide_env_values = true,
        help_heading = "Secrets"
    )]
    pub admin_password: Option<String>,

    /// Bearer token of the management API and of /metrics with all rights, at least 16 characters [default: none]
    #[arg(long, env = "CARILLON_API_TOKEN", value_name = "TOKEN", hide_env_values = true, help_heading = "Secrets")]
    pub api_token: Option<String>,

    /// Key that encrypts the secrets in the database, 32 bytes in base64 or hexadecimal, the same on every node [default:
    /// none; such secrets, the tokens of apps among them, cannot be made]
    ///
    /// Several with commas between them while one replaces another: the first encrypts, all of them decrypt. As a flag it
    /// can be seen in the list of processes; prefer --secret-key-file.
    #[arg(long, env = "CARILLON_SECRET_KEY", value_name = "KEY", hide_env_values = true, help_heading = "Secrets")]
    pub secret_key: Option<String>,

    /// File with what --secret-key would hold, one key a line
    #[arg(long, env = "CARILLON_SECRET_KEY_FILE", value_name = "FILE", help_heading = "Secrets")]
    pub secret_key_file: Option<String>,

    /// Issuer of an OpenID Connect provider with which people sign in, such as `https://login.example.com/realms/main`
    /// [default: none; people sign in with passwords]
    ///
    /// Register this program there with the redirect address PUBLIC-URL/login/openid/callback.
    #[arg(long, env = "CARILLON_OIDC_ISSUER", value_name = "URL", help_heading = "Sign-in")]
    pub oidc_issuer: Option<String>,

    /// Client id under which the provider knows this program
    #[arg(long, env = "CARILLON_OIDC_CLIENT_ID", value_name = "ID", help_heading = "Sign-in")]
    pub oidc_client_id: Option<String>,

    /// Client secret of the provider [default: none; a public client, with PKCE]
    #[arg(
        long,
        env = "CARILLON_OIDC_CLIENT_SECRET",
        value_name = "SECRET",
        hide_env_values = true,
        help_heading = "Sign-in"
    )]
    pub oidc_client_secret: Option<String>,

    /// File with the client secret of the provider
    #[arg(long, env = "CARILLON_OIDC_CLIENT_SECRET_FILE", value_name = "FILE", help_heading = "Sign-in")]
    pub oidc_client_secret_file: Option<String>,

    /// Roles that groups of the provider give: GROUP=ROLE:APP with commas, such as ops=admin:all,team-a=operator:orders
    #[arg(long, env = "CARILLON_OIDC_ROLES", value_name = "LIST", help_heading = "Sign-in")]
    pub oidc_roles: Option<String>,

    /// Claim that names the groups of a person
    #[arg(
        long,
        env = "CARILLON_OIDC_GROUPS_CLAIM",
        value_name = "CLAIM",
        default_value = "groups",
        help_heading = "Sign-in"
    )]
    pub oidc_groups_claim: String,

    /// Scopes to ask for beside openid, with spaces
    #[arg(
        long,
        env = "CARILLON_OIDC_SCOPES",
        value_name = "LIST",
        default_value = "profile email",
        help_heading = "Sign-in"
    )]
    pub oidc_scopes: String,

    /// The provider's name on the sign-in page
    #[arg(
        long,
        env = "CARILLON_OIDC_NAME",
        value_name = "NAME",
        default_value = "single sign-on",
        help_heading = "Sign-in"
    )]
    pub oidc_name: String,

    /// PEM file with the authority of the provider's certificate [default: those that this machine trusts]
    #[arg(long, env = "CARILLON_OIDC_CA", value_name = "FILE", help_heading = "Sign-in")]
    pub oidc_ca: Option<String>,

    /// Let people sign in by the OpenID provider alone; `carillon user link` makes a link that still signs in
    #[arg(long, env = "CARILLON_NO_PASSWORDS", help_heading = "Sign-in")]
    pub no_passwords: bool,

    /// Ask administrators who sign in with a password for a second factor
    #[arg(long, env = "CARILLON_ADMIN_SECOND_FACTOR", help_heading = "Sign-in")]
    pub admin_second_factor: bool,

    /// Answer the HTTP calls of xxl-job's console too, for scripts that were written for it
    #[arg(long, env = "CARILLON_XXL_CONSOLE_API", help_heading = "Sign-in")]
    pub xxl_console_api: bool,

    /// Time zone whose days the reports count, an IANA name such as Asia/Shanghai; the same on every node
    ///
    /// Days that were counted before a change keep the zone of that time.
    #[arg(long, env = "CARILLON_REPORT_ZONE", value_name = "ZONE", default_value = "UTC", help_heading = "Time zones")]
    pub report_zone: String,

    /// How log lines are written to standard error: text or json
    #[arg(long, env = "CARILLON_LOG_FORMAT", value_name = "FORMAT", default_value = "text", help_heading = "Logging")]
    pub log_format: String,

    /// How long before its time a fire is claimed at most, 1s to 30s
    #[arg(long, env = "CARILLON_LOOK_AHEAD", value_name = "TIME", default_value = "5s", help_heading = "Timing")]
    pub look_ahead: String,

    /// How long a node may work a shard after its last renewal, 3s to 60s; bounds the fail-over time
    #[arg(long, env = "CARILLON_LEASE_TTL", value_name = "TIME", default_value = "10s", help_heading = "Timing")]
    pub lease_ttl: String,

    /// Limit for connecting to an executor, 50ms to 10s
    #[arg(long, env = "CARILLON_CONNECT_TIMEOUT", value_name = "TIME", default_value = "1s", help_heading = "Timing")]
    pub connect_timeout: String,

    /// Limit for a whole request to an executor, longer than the one for connecting, 100ms to 30s
    #[arg(long, env = "CARILLON_REQUEST_TIMEOUT", value_name = "TIME", default_value = "3s", help_heading = "Timing")]
    pub request_timeout: String,

    /// When a run whose executor is gone is given up: lease (30 s after the executor's lease) or xxl (10 minutes after it
    /// was sent, if its executor is not registered)
    #[arg(long, env = "CARILLON_LOST_RULE", value_name = "RULE", default_value = "lease", help_heading = "Timing")]
    pub lost_rule: String,

    /// A run that has not been sent this long after it was due is flagged, with an alarm, 1s to 24h; each job may say
    /// otherwise
    #[arg(long, env = "CARILLON_FLAG_AFTER", value_name = "TIME", default_value = "30s", help_heading = "Timing")]
    pub flag_after: String,

    /// Time after which an open alarm is escalated, 1m to 30d
    #[arg(long, env = "CARILLON_ESCALATE_AFTER", value_name = "TIME", default_value = "30m", help_heading = "Timing")]
    pub escalate_after: String,

    /// A run that is still running this long after it was sent is checked at an executor that keeps no journal: does it
    /// work on it? 1s to 60m
    ///
    /// Then after twice as long and so on, up to 60 times as long. An executor of the own SDK reports until it is heard
    /// and needs no check.
    #[arg(long, env = "CARILLON_CHECK_AFTER", value_name = "TIME", default_value = "60s", help_heading = "Timing")]
    pub check_after: String,

    /// Requests at once to one executor address, 1 to 1000
    #[arg(long, env = "CARILLON_IN_FLIGHT", value_name = "NUMBER", default_value = "32", help_heading = "Timing")]
    pub in_flight: String,

    #[command(flatten)]
    pub secret_files: SecretFiles,

    #[command(flatten)]
    pub limits: LimitSettings,
}
