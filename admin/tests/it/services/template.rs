//! A migrated database of each kind, made once in this process by the program itself. The databases of the tests are its copies: a copy
//! takes a fraction of the time of a migration.

use sea_orm::{ConnectionTrait as _, Statement};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use url::Url;

use super::Kind;
use super::test_database::{execute, server_url};
use crate::program::{carillon, ended};

pub enum Template {
    /// The file's content.
    Sqlite(Vec<u8>),
    /// The database's name.
    Postgres(String),
    /// The database's name and its tables; true: the table has rows.
    Mariadb(String, Vec<(String, bool)>),
}

static TEMPLATES: [OnceCell<Template>; 3] = [const { OnceCell::const_new() }; 3];

impl Template {
    pub async fn of(kind: Kind) -> &'static Self {
        TEMPLATES[kind as usize].get_or_init(|| Self::new(kind)).await
    }

    /// No connection to the template stays open: PostgreSQL copies only a database that is not in use. The template goes with its server.
    async fn new(kind: Kind) -> Self {
        let folder = tempfile::Builder::new().prefix("carillon-template-").tempdir().unwrap();
        let Some(server) = server_url(kind) else {
            migrate(&folder, None);
            return Self::Sqlite(content(&folder).await);
        };
        let name = format!("carillon_template_{:016x}", rand::random::<u64>());
        execute(&server, &format!("CREATE DATABASE {name}")).await.unwrap();
        let mut url = server;
        url.set_path(&name);
        migrate(&folder, Some(&url));
        match kind {
            Kind::Mariadb => {
                let tables = tables(&url).await;
                Self::Mariadb(name, tables)
            }
            _ => Self::Postgres(name),
        }
    }

    /// The statements that make a database of that name; none for a file.
    pub fn statements(&self, name: &str) -> String {
        match self {
            Self::Sqlite(_) => String::new(),
            Self::Postgres(template) => format!("CREATE DATABASE {name} TEMPLATE {template}"),
            Self::Mariadb(template, tables) => {
                let mut text = format!("CREATE DATABASE {name}");
                for (table, has_rows) in tables {
                    text.push_str(&format!("; CREATE TABLE {name}.{table} LIKE {template}.{table}"));
                    if *has_rows {
                        text.push_str(&format!("; INSERT INTO {name}.{table} SELECT * FROM {template}.{table}"));
                    }
                }
                text
            }
        }
    }
}

fn migrate(folder: &TempDir, url: Option<&Url>) {
    let mut command = carillon(&["migrate"]);
    command.env("CARILLON_DATA_DIR", folder.path());
    if let Some(url) = url {
        command.env("CARILLON_DATABASE_URL", url.as_str());
    }
    let (code, _, complaint) = ended(command);
    assert_eq!(code, Some(0), "{complaint}");
}

/// The whole database in one file: what lies in the log beside it is written there first.
async fn content(folder: &TempDir) -> Vec<u8> {
    let path = folder.path().join("carillon.db");
    let connection = sea_orm::Database::connect(format!("sqlite://{}", path.display())).await.unwrap();
    connection.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
    connection.close().await.unwrap();
    std::fs::read(path).unwrap()
}

async fn tables(url: &Url) -> Vec<(String, bool)> {
    let connection = sea_orm::Database::connect(url.as_str()).await.unwrap();
    let query = async |text: String| {
        connection.query_all_raw(Statement::from_string(connection.get_database_backend(), text)).await.unwrap()
    };
    let mut tables = vec![];
    for row in query("SHOW TABLES".into()).await {
        let table: String = row.try_get_by_index(0).unwrap();
        let rows = query(format!("SELECT 1 AS one FROM {table} LIMIT 1")).await;
        tables.push((table, !rows.is_empty()));
    }
    connection.close().await.unwrap();
    tables
}
