//! While entries of the audit cannot be written, no route changes anything: each change is made in the transaction of its entry.

use carillon_admin::web::{RouteEntry, route_table};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement};

use super::audited::{ADMIN, Audited, NO_CHANGE, changes};
use super::callers::Caller;
use super::request::{Which, request};
use crate::services::{Kind, TestDatabase, on};

/// Tables that say nothing about a change: the entries themselves, attempts to sign in, and the numbers that are handed out.
const OTHER_TABLES: [&str; 4] = ["audit", "audit_away", "login_throttle", "id_block"];

/// All tables but those, with a digest of their rows.
struct Tables {
    raw: DatabaseConnection,
    question: String,
}

impl Tables {
    async fn of(db: &TestDatabase) -> Self {
        let raw = Database::connect(db.direct_url()).await.unwrap();
        let names = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename";
        let rows = raw.query_all_raw(Statement::from_string(raw.get_database_backend(), names)).await.unwrap();
        let names: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
        assert!(
            names.len() > 20 && OTHER_TABLES[2..].iter().all(|it| names.iter().any(|name| name == it)),
            "{names:?}"
        );
        let names = names.iter().filter(|name| !OTHER_TABLES.contains(&name.as_str()));
        let each = names.map(|name| {
            format!("SELECT '{name}', md5(COALESCE(string_agg(t::text, '|' ORDER BY t::text), '')) FROM \"{name}\" t")
        });
        Self { question: each.collect::<Vec<_>>().join(" UNION ALL "), raw }
    }

    async fn digests(&self) -> Vec<(String, String)> {
        let statement = Statement::from_string(self.raw.get_database_backend(), &self.question);
        let rows = self.raw.query_all_raw(statement).await.unwrap();
        let pair = |row: &sea_orm::QueryResult| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap());
        rows.iter().map(pair).collect()
    }
}

/// Sends the request without a table for the entries: the status, and the tables that it has changed.
async fn ask(audited: &Audited, tables: &Tables, route: &RouteEntry) -> (u16, Vec<String>) {
    let (world, caller) = (&audited.world, &audited.callers[ADMIN]);
    let Caller::Account { token, .. } = caller else { panic!("no account") };
    // The use of the token is on record, and that for a minute.
    let call = audited.client.get(format!("{}/api/v1/apps", world.urls[0])).bearer_auth(token);
    assert_eq!(call.send().await.unwrap().status(), 200);
    let call = request(&audited.client, world, &world.urls[0], caller, route, Which::Own).await;
    world.sql("ALTER TABLE audit RENAME TO audit_away").await;
    let before = tables.digests().await;
    let status = call.send().await.unwrap().status().as_u16();
    let after = tables.digests().await;
    world.sql("ALTER TABLE audit_away RENAME TO audit").await;
    let differ = before.into_iter().zip(after).filter(|(before, after)| before != after);
    (status, differ.map(|((name, _), _)| name).collect())
}

// covers: S37, V10
#[test]
fn no_change_is_made_without_its_entry() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let mut audited = Audited::start(db).await;
        let tables = Tables::of(db).await;
        let mut wrong = vec![];
        let changes_something =
            |route: &RouteEntry| changes(route) && !NO_CHANGE.iter().any(|(path, _)| *path == route.path);
        for route in route_table().into_iter().filter(changes_something) {
            audited.prepare(&route).await;
            let (status, differ) = ask(&audited, &tables, &route).await;
            if status < 500 || !differ.is_empty() {
                wrong.push(format!("{} {}: {status}, changed: {differ:?}", route.method, route.path));
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    });
}
