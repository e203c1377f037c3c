//! One database for one test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use carillon_accounts::secret::random_secret;
use carillon_admin::config::{Config, Database};
use sea_orm::{ConnectOptions, ConnectionTrait as _};
use tempfile::TempDir;
use url::Url;

use super::template::Template;
use super::{Kind, runtime, setting};

/// A database that is dropped with this value, and a folder that is deleted with it.
pub struct TestDatabase {
    kind: Kind,
    folder: TempDir,
    server: Option<OwnDatabase>,
}

impl TestDatabase {
    /// With the schema of `carillon migrate`.
    pub async fn new(kind: Kind) -> Self {
        let template = Template::of(kind).await;
        let this = Self::made_by(kind, |name| template.statements(name)).await;
        if let Template::Sqlite(content) = template {
            std::fs::write(this.folder().join("carillon.db"), content).unwrap();
        }
        this
    }

    /// Without tables.
    pub async fn empty(kind: Kind) -> Self {
        Self::made_by(kind, |name| format!("CREATE DATABASE {name}")).await
    }

    async fn made_by(kind: Kind, statements: impl FnOnce(&str) -> String) -> Self {
        let server = match server_url(kind) {
            Some(server) => Some(OwnDatabase::create(server, statements).await),
            None => None,
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

/// The server of a kind; `None`: SQLite has none.
pub fn server_url(kind: Kind) -> Option<Url> {
    let variable = match kind {
        Kind::Sqlite => return None,
        Kind::Postgres => "CARILLON_TEST_POSTGRES_URL",
        Kind::Mariadb => "CARILLON_TEST_MARIADB_URL",
    };
    Some(setting(variable).parse().unwrap_or_else(|error| panic!("{variable}: {error}")))
}

/// A database on a shared server, dropped with this value.
struct OwnDatabase {
    url: Url,
    server: Url,
}

impl OwnDatabase {
    async fn create(server: Url, statements: impl FnOnce(&str) -> String) -> Self {
        let name = format!("carillon_{:016x}", rand::random::<u64>());
        execute(&server, &statements(&name)).await.unwrap();
        let mut url = server.clone();
        url.set_path(&name);
        Self { url, server }
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

pub async fn execute(server: &Url, statement: &str) -> Result<(), sea_orm::DbErr> {
    let mut options = ConnectOptions::new(server.as_str());
    options.max_connections(1).sqlx_logging(false);
    let connection = sea_orm::Database::connect(options).await?;
    connection.execute_unprepared(statement).await?;
    connection.close().await
}

mod tests {
    use super::*;

    async fn databases_named(kind: Kind, server: &Url, name: &str) -> usize {
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
}
