//! The option `--db`, and an empty database of that kind.

use std::path::Path;
use std::str::FromStr;

use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection};
use url::Url;

/// Which database a measurement runs on.
#[derive(Clone)]
pub enum DatabaseChoice {
    /// A file in a temporary folder.
    Sqlite,
    /// A new database on this server, dropped afterwards.
    Server(Url),
    /// An empty database, which stays.
    Given(Url),
}

impl FromStr for DatabaseChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let server = |variable: &str| match std::env::var(variable) {
            Ok(url) => url.parse().map(Self::Server).map_err(|error| format!("{variable}: {error}")),
            Err(_) => Err(format!("{variable} is not set; `make bench` and `make services` set it")),
        };
        match text {
            "sqlite" => Ok(Self::Sqlite),
            "postgres" => server("CARILLON_TEST_POSTGRES_URL"),
            "mariadb" => server("CARILLON_TEST_MARIADB_URL"),
            url if url.contains("://") => url.parse().map(Self::Given).map_err(|error| format!("{error}")),
            _ => Err("use sqlite, postgres, mariadb, or the URL of an empty database".to_owned()),
        }
    }
}

/// An empty database for one measurement.
pub struct BenchDatabase {
    choice: DatabaseChoice,
    /// None: SQLite in the node's folder.
    pub url: Option<String>,
}

impl BenchDatabase {
    pub async fn create(choice: &DatabaseChoice) -> Self {
        let url = match choice {
            DatabaseChoice::Sqlite => None,
            DatabaseChoice::Given(url) => Some(url.to_string()),
            DatabaseChoice::Server(server) => {
                let mut url = server.clone();
                url.set_path(&format!("carillon_bench_{:016x}", rand::random::<u64>()));
                execute(server, &format!("CREATE DATABASE {}", &url.path()[1..])).await;
                Some(url.to_string())
            }
        };
        Self { choice: choice.clone(), url }
    }

    /// One connection beside the node's; to a file in its folder, for reading while the node runs.
    pub async fn connect(&self, folder: &Path, mode: &str) -> DatabaseConnection {
        let file = format!("sqlite://{}?mode={mode}", folder.join("carillon.db").display());
        connect(self.url.as_deref().unwrap_or(&file)).await
    }

    /// To be called when its nodes have ended.
    pub async fn drop_database(self) {
        if let (DatabaseChoice::Server(server), Some(url)) = (&self.choice, &self.url) {
            let name = url.rsplit('/').next().unwrap_or_default();
            let force = if server.scheme().starts_with("postgres") { " WITH (FORCE)" } else { "" };
            execute(server, &format!("DROP DATABASE {name}{force}")).await;
        }
    }
}

async fn execute(server: &Url, statement: &str) {
    let connection = connect(server.as_str()).await;
    connection.execute_unprepared(statement).await.unwrap();
    connection.close().await.unwrap();
}

async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}
