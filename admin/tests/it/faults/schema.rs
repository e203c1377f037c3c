//! Which schema the program takes on each database: its own, and an older one that it may migrate.

use std::process::Command;
use std::time::Duration;

use sea_orm::ConnectionTrait as _;

use crate::program::{carillon, ended, settings};
use crate::services::{Kind, TestDatabase};

/// `carillon serve` or `migrate` on this database.
fn on_it(db: &TestDatabase, subcommand: &str) -> Command {
    let mut command = match subcommand {
        "serve" => settings(db.folder()).command(),
        other => carillon(&[other]),
    };
    command.env("CARILLON_DATA_DIR", db.folder());
    if let Some(url) = db.url() {
        command.env("CARILLON_DATABASE_URL", url);
    }
    command
}

databases! {
    async fn an_empty_database_is_refused_with_no_migrate_until_it_was_migrated(db: &TestDatabase) {
        let db = &TestDatabase::empty(db.kind()).await;
        let mut command = on_it(db, "serve");
        command.arg("--no-migrate");
        let (code, _, complaint) = ended(command);
        assert_eq!(code, Some(2), "{complaint}");
        let said = "run `carillon migrate`, or start without --no-migrate";
        assert!(complaint.contains(said), "{complaint}");

        let (code, _, complaint) = ended(on_it(db, "migrate"));
        assert_eq!(code, Some(0), "{complaint}");
        let mut setup = settings(db.folder()).arg("--no-migrate");
        if let Some(url) = db.url() {
            setup = setup.arg(format!("--database-url={url}"));
        }
        assert!(setup.start().await.terminate(Duration::from_secs(15)).await.success());
    }

    async fn a_database_that_is_newer_than_the_program_is_refused(db: &TestDatabase) {
        let (code, _, complaint) = ended(on_it(db, "migrate"));
        assert_eq!(code, Some(0), "{complaint}");
        from_the_future(db).await;
        for subcommand in ["serve", "migrate"] {
            let (code, _, complaint) = ended(on_it(db, subcommand));
            assert_eq!(code, Some(2), "{complaint}");
            let said = "the database is newer than this program: it has the migration m9999_later";
            assert!(complaint.contains(said), "{complaint}");
        }
    }
}

async fn from_the_future(db: &TestDatabase) {
    let url = match (db.kind(), db.url()) {
        (Kind::Sqlite, _) | (_, None) => {
            format!("sqlite://{}?mode=rw", db.folder().join("carillon.db").display())
        }
        (_, Some(url)) => url.to_owned(),
    };
    let connection = sea_orm::Database::connect(url).await.unwrap();
    let text = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    connection.execute_unprepared(text).await.unwrap();
    connection.close().await.unwrap();
}
