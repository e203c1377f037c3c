//! A login that may read and write rows and change no table.

use std::process::Command;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_admin::config::Database;
use carillon_store::Store;
use carillon_testkit::Program;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use serde_json::json;

use super::documented;
use crate::faults::load::{Load, every_second};
use crate::program::{carillon, ended, settings};
use crate::services::{Kind, TestDatabase, on};

struct Login {
    name: String,
    url: String,
    owner: DatabaseConnection,
    kind: Kind,
}

impl Login {
    /// By the statements of the document, for this database.
    async fn create(db: &TestDatabase) -> Self {
        let mut url: url::Url = db.url().unwrap().parse().unwrap();
        let owner = sea_orm::Database::connect(url.as_str()).await.unwrap();
        let database = url.path()[1..].to_owned();
        let (name, secret) = (database.replace("carillon", "node"), random_secret());
        let heading = match db.kind() {
            Kind::Postgres => "-- PostgreSQL",
            _ => "-- MariaDB, MySQL",
        };
        for statement in documented(heading) {
            let statement =
                statement.replace("carillon_node", &name).replace("PASSWORD '…'", &format!("PASSWORD '{secret}'"));
            let statement = statement.replace("BY '…'", &format!("BY '{secret}'"));
            let statement = statement.replace("DATABASE carillon ", &format!("DATABASE {database} "));
            let statement = statement.replace("carillon.*", &format!("{database}.*"));
            owner.execute_unprepared(&statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        url.set_username(&name).unwrap();
        url.set_password(Some(&secret)).unwrap();
        Self { name, url: url.into(), owner, kind: db.kind() }
    }

    /// What would change a table, or the settings of the server, is refused.
    async fn assert_it_may_do_no_more(&self) {
        let limited = sea_orm::Database::connect(&self.url).await.unwrap();
        for statement in [
            "CREATE TABLE forbidden (a INTEGER)",
            "ALTER TABLE run ADD COLUMN forbidden INTEGER",
            "CREATE INDEX forbidden ON run (job_id)",
            "TRUNCATE TABLE audit",
            "DROP TABLE run",
            "CREATE USER forbidden",
        ] {
            let done = limited.execute_unprepared(statement).await;
            let refused = done.err().unwrap_or_else(|| panic!("{statement} is allowed")).to_string();
            assert!(["denied", "must be owner"].iter().any(|word| refused.contains(word)), "{statement}: {refused}");
        }
        limited.close().await.unwrap();
    }

    async fn remove(self) {
        let statement = match self.kind {
            Kind::Postgres => format!("DROP OWNED BY {0}; DROP ROLE {0}", self.name),
            _ => format!("DROP USER {}@'%'", self.name),
        };
        self.owner.execute_unprepared(&statement).await.unwrap();
        self.owner.close().await.unwrap();
    }
}

/// `carillon` with these arguments, on this database; what it prints.
fn command(url: &str, arguments: &[&str]) -> String {
    let mut command: Command = carillon(arguments);
    command.env("CARILLON_DATABASE_URL", url);
    let (code, said, complaint) = ended(command);
    assert_eq!(code, Some(0), "{arguments:?}: {complaint}");
    said
}

/// What people and programs change, beside the runs.
async fn changes(load: &Load) {
    let api = &load.api;
    let job = load.jobs.last().unwrap().id;
    api.put("retention", json!({"days": 1})).await.ok();
    api.post("pauses", json!({"app": "load", "note": "for a moment"})).await.ok();
    api.post(&format!("jobs/{job}/run"), json!({"params": "by hand"})).await.ok();
    api.delete(&format!("jobs/{job}")).await.ok();
    let pauses = api.get("pauses").await;
    for id in pauses.column("id") {
        api.delete(&format!("pauses/{id}")).await.ok();
    }
    let page = api.send(api.at(Method::GET, "login")).await;
    assert!(page.status.is_success(), "{page:?}");
}

async fn assert_it_deletes_what_is_old(url: &str) {
    let store = Store::open(&(&Database::parse(url).unwrap()).into()).await.unwrap();
    let ids: Vec<i64> = store.retention().runs_above(0, 100).await.unwrap().iter().map(|run| run.id).collect();
    assert!(store.retention().prune_runs(&ids, 0).await.unwrap() > 0, "runs that have ended");
    let later = carillon_testkit::now_ms() + 1_000 * 86_400_000;
    assert!(store.retention().prune_rest(90, later).await.unwrap() > 0);
    store.retention().prune_orphans().await.unwrap();
    let sets = store.runs().idle_candidate_sets(0, later, 9).await.unwrap();
    assert_eq!(store.runs().delete_candidate_sets(&sets, later).await.unwrap(), sets.len() as u64);
}

fn refusals(node: &Program) -> Vec<String> {
    ["denied", "must be owner"].iter().flat_map(|word| node.log(word)).collect()
}

async fn a_node_needs_no_more(db: &TestDatabase) {
    command(db.url().unwrap(), &["migrate"]);
    let login = Login::create(db).await;
    login.assert_it_may_do_no_more().await;
    let mut setup = settings(db.folder()).env("CARILLON_DATABASE_URL", &login.url).arg("--no-migrate");
    let node = setup.start().await;
    let load = Load::start(&setup, &[&node], 2, vec![every_second(&json!({"retries": 1})); 20]).await;
    load.until_received(60).await;
    changes(&load).await;
    let said = command(&login.url, &["shards", "set", "3"]);
    assert!(said.starts_with("3 shards instead of 8"), "{said}");
    command(&login.url, &["user", "add", "eve", "--role", "admin"]);
    command(&login.url, &["user", "list"]);
    let before = load.received();
    load.until_received(before + 60).await;
    assert_eq!(refusals(&node), [""; 0]);
    assert_eq!(node.terminate(Duration::from_secs(15)).await.code(), Some(0));
    assert_it_deletes_what_is_old(&login.url).await;
    login.remove().await;
}

// covers: S39
#[test]
fn rights_on_rows_are_enough_on_postgres() {
    on(Kind::Postgres, a_node_needs_no_more);
}

// covers: S39
#[test]
fn rights_on_rows_are_enough_on_mariadb() {
    on(Kind::Mariadb, a_node_needs_no_more);
}
