//! A fresh database for each test, on the services that `make test` starts.
//!
//! [`databases!`] turns one test into three: on SQLite, PostgreSQL and MariaDB (which stands for MySQL).
//! [`TestDatabase::new`] is for a test that wants one of them, or two at once.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use carillon_accounts::secret::random_secret;
use carillon_admin::config::{Config, Database};
use sea_orm::{ConnectOptions, ConnectionTrait as _};
use tempfile::TempDir;

/// The databases that everything must work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
    Mariadb,
}

/// One test function, three tests, each with a database of its own:
///
/// ```ignore
/// databases! {
///     async fn a_job_is_found_again(db: &TestDatabase) {
///         let store = Store::open(&db.store()).await.unwrap();
///         …
///     }
/// }
/// ```
///
/// They are called `a_job_is_found_again::sqlite`, `…::postgres` and `…::mariadb`.
macro_rules! databases {
    ($($(#[$attribute:meta])* async fn $name:ident($db:ident: &TestDatabase) $body:block)+) => {$(
        $(#[$attribute])*
        mod $name {
            use super::*;
            use $crate::services::{Kind, TestDatabase, on};

            async fn test($db: &TestDatabase) $body

            #[test]
            fn sqlite() {
                on(Kind::Sqlite, test);
            }

            #[test]
            fn postgres() {
                on(Kind::Postgres, test);
            }

            #[test]
            fn mariadb() {
                on(Kind::Mariadb, test);
            }
        }
    )+};
}

/// Runs `test` on a fresh database of that kind, in a runtime of its own.
pub fn on(kind: Kind, test: impl AsyncFnOnce(&TestDatabase)) {
    runtime().block_on(async {
        let database = TestDatabase::new(kind).await;
        test(&database).await;
    });
}

pub fn runtime() -> tokio::runtime::Runtime {
    runtime_builder().build().unwrap()
}

pub fn runtime_builder() -> tokio::runtime::Builder {
    // Which crypto is used is said once in a process; a later test finds it said.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    builder
}

/// An empty database that is dropped with this value, and a folder that goes with it.
pub struct TestDatabase {
    kind: Kind,
    folder: TempDir,
    server: Option<OwnDatabase>,
}

impl TestDatabase {
    pub async fn new(kind: Kind) -> Self {
        let server = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => Some(OwnDatabase::create(&url_of("CARILLON_TEST_POSTGRES_URL")).await),
            Kind::Mariadb => Some(OwnDatabase::create(&url_of("CARILLON_TEST_MARIADB_URL")).await),
        };
        let folder = tempfile::Builder::new().prefix("carillon-test-").tempdir().unwrap();
        Self { kind, folder, server }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// A folder of this test alone, on every database.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The database as a setting.
    pub fn database(&self) -> Database {
        match &self.server {
            None => Database::in_folder(self.folder()),
            Some(server) => Database::parse(server.url.as_str()).unwrap(),
        }
    }

    /// The database as the store opens it.
    pub fn store(&self) -> carillon_store::Database {
        (&self.database()).into()
    }

    /// The URL of the server's database; `None` on SQLite.
    pub fn url(&self) -> Option<&str> {
        self.server.as_ref().map(|server| server.url.as_str())
    }

    /// A URL for a connection beside the program's, to look and to meddle.
    pub fn direct_url(&self) -> String {
        match (&self.server, self.database()) {
            (None, Database::Sqlite { path }) => format!("sqlite://{}", path.display()),
            _ => self.url().unwrap_or_default().to_owned(),
        }
    }

    /// The settings of a node on this database: any free port, a random token, the defaults otherwise.
    pub fn config(&self) -> Config {
        let mut config = Config::new(self.folder(), random_secret());
        config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        config.database = self.database();
        config
    }
}

/// The Redis of the tests. Tests that run at once share it: their keys must differ.
pub fn redis_url() -> String {
    setting("CARILLON_TEST_REDIS_URL")
}

/// What `make test` says about a service.
pub fn setting(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run `make test`, or take the environment that `make services` prints")
    })
}

fn url_of(variable: &str) -> url::Url {
    setting(variable).parse().unwrap_or_else(|error| panic!("{variable}: {error}"))
}

/// A database on a shared server, dropped with this value.
struct OwnDatabase {
    url: url::Url,
    server: url::Url,
}

impl OwnDatabase {
    async fn create(server: &url::Url) -> Self {
        let name = format!("carillon_{:016x}", rand::random::<u64>());
        execute(server, &format!("CREATE DATABASE {name}")).await.unwrap();
        let mut url = server.clone();
        url.set_path(&name);
        Self { url, server: server.clone() }
    }
}

impl Drop for OwnDatabase {
    /// Also runs when a test panics, inside its runtime, which cannot wait: hence a thread with another one.
    fn drop(&mut self) {
        let name = self.url.path().trim_matches('/');
        // A failed test leaves connections behind, which PostgreSQL minds and MariaDB does not.
        let force = if self.server.scheme() == "postgres" { " WITH (FORCE)" } else { "" };
        let statement = format!("DROP DATABASE {name}{force}");
        let dropped =
            std::thread::scope(|scope| scope.spawn(|| runtime().block_on(execute(&self.server, &statement))).join());
        if !matches!(dropped, Ok(Ok(()))) {
            eprintln!("{statement}: {dropped:?}");
        }
    }
}

async fn execute(server: &url::Url, statement: &str) -> Result<(), sea_orm::DbErr> {
    let mut options = ConnectOptions::new(server.as_str());
    options.max_connections(1).sqlx_logging(false);
    let connection = sea_orm::Database::connect(options).await?;
    connection.execute_unprepared(statement).await?;
    connection.close().await
}

mod tests {
    use super::*;

    async fn databases_named(kind: Kind, server: &url::Url, name: &str) -> usize {
        let catalogue = match kind {
            Kind::Postgres => "pg_database WHERE datname",
            _ => "information_schema.schemata WHERE schema_name",
        };
        let connection = sea_orm::Database::connect(server.as_str()).await.unwrap();
        let statement = sea_orm::Statement::from_string(
            connection.get_database_backend(),
            format!("SELECT 1 AS one FROM {catalogue} = '{name}'"),
        );
        connection.query_all_raw(statement).await.unwrap().len()
    }

    databases! {
        async fn each_test_has_a_database_of_its_own_that_is_dropped_afterwards(db: &TestDatabase) {
            let other = TestDatabase::new(db.kind()).await;
            assert_ne!(db.database(), other.database());
            assert_eq!(db.url().is_none(), db.kind() == Kind::Sqlite);
            assert_eq!(db.config().validate(), Ok(()));
            carillon_store::Store::open(&db.store()).await.unwrap().ping().await.unwrap();
            let folder = other.folder().to_owned();
            let Some(OwnDatabase { url, server }) = &other.server else {
                drop(other);
                return assert!(!folder.exists());
            };
            let (name, server) = (url.path()[1..].to_owned(), server.clone());
            // A test that leaves a connection open must not keep its database.
            let open = sea_orm::Database::connect(url.as_str()).await.unwrap();
            open.execute_unprepared("SELECT 1").await.unwrap();
            assert_eq!(databases_named(db.kind(), &server, &name).await, 1);
            drop(other);
            assert_eq!(databases_named(db.kind(), &server, &name).await, 0);
            assert!(!folder.exists());
        }
    }

    #[test]
    fn the_redis_of_the_tests_answers() {
        let client = redis::Client::open(redis_url()).unwrap();
        let answer: String = runtime().block_on(async {
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            redis::cmd("PING").query_async(&mut connection).await.unwrap()
        });
        assert_eq!(answer, "PONG");
    }

    #[test]
    #[should_panic(expected = "run `make test`")]
    fn a_missing_service_is_a_failure() {
        setting("CARILLON_TEST_NO_SUCH_SERVICE");
    }
}
