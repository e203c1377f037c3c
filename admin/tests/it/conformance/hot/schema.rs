//! The schema: made once, refused when it is newer, asked for when it may not be made.

use std::sync::Arc;
use std::time::Duration;

use carillon_store::Store;
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement, TransactionTrait as _};

use super::rows::connect;
use crate::services::{Kind, TestDatabase};

/// `wanted` nodes on one database; one node on SQLite, which takes only one.
pub async fn nodes(db: &TestDatabase, wanted: usize) -> Vec<Arc<Store>> {
    let count = if db.kind() == Kind::Sqlite { 1 } else { wanted };
    let opening = (0..count).map(|_| async { Store::open(&db.store()).await.unwrap() });
    join_all(opening).await
}

databases! {
    async fn nodes_that_start_at_once_migrate_an_empty_database_once(db: &TestDatabase) {
        let db = &TestDatabase::empty(db.kind()).await;
        let stores = nodes(db, 3).await;
        let lacking = stores[0].check_schema().await.unwrap_err().to_string();
        assert!(lacking.starts_with("the database lacks the migration m0001_initial; run `carillon migrate`"), "{lacking}");
        let migrated = join_all(stores.iter().map(|store| store.migrate())).await;
        assert!(migrated.iter().all(Result::is_ok), "{migrated:?}");
        for store in &stores {
            store.check_schema().await.unwrap();
            // A node that starts later finds nothing to do.
            store.migrate().await.unwrap();
        }
    }

    // covers: F2
    async fn a_start_with_nothing_to_migrate_waits_for_no_other_node(db: &TestDatabase) {
        let store = nodes(db, 1).await.remove(0);
        store.migrate().await.unwrap();
        // A node that died while it held the lock of the migration.
        let raw = connect(db).await;
        let holder = raw.begin().await.unwrap();
        let number = i64::from_be_bytes(*b"\0carillo");
        match db.kind() {
            Kind::Sqlite => {}
            Kind::Postgres => drop(holder.execute_unprepared(&format!("SELECT pg_advisory_lock({number})")).await.unwrap()),
            Kind::Mariadb => {
                let lock = format!("SELECT GET_LOCK(CONCAT('carillon-', MD5(DATABASE()), '-{number}'), 1)");
                holder.execute_unprepared(&lock).await.unwrap();
            }
        }
        let start = tokio::time::timeout(Duration::from_secs(30), store.migrate()).await;
        start.expect("the start waits for the lock").unwrap();
    }

    async fn a_newer_database_is_refused(db: &TestDatabase) {
        let store = nodes(db, 1).await.remove(0);
        store.migrate().await.unwrap();
        let raw = connect(db).await;
        raw.execute_unprepared("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_future', 1)").await.unwrap();
        for refused in [store.migrate().await, store.check_schema().await] {
            let text = refused.unwrap_err().to_string();
            assert!(text.starts_with("the database is newer than this program: it has the migration m9999_future"), "{text}");
        }
        // The lock was given back: a node that knows the step can go on.
        raw.execute_unprepared("DELETE FROM seaql_migrations WHERE version = 'm9999_future'").await.unwrap();
        store.migrate().await.unwrap();
    }
    async fn a_step_that_was_interrupted_leaves_nothing_half_made(db: &TestDatabase) {
        let whole = described(&connect(db).await, db.kind()).await;
        let db = &TestDatabase::empty(db.kind()).await;
        let store = nodes(db, 1).await.remove(0);
        let raw = connect(db).await;
        // MySQL keeps what a step did before it was interrupted, the others undo it: a table in the way stands for both.
        let table = "CREATE TABLE audit (id BIGINT PRIMARY KEY)";
        if db.kind() == Kind::Mariadb {
            store.migrate().await.unwrap();
            for lost in ["DROP TABLE audit", "DROP INDEX alarm_open ON alarm", "DELETE FROM seaql_migrations"] {
                raw.execute_unprepared(lost).await.unwrap();
            }
            raw.execute_unprepared("UPDATE report_cursor SET run_id = 7").await.unwrap();
        } else {
            raw.execute_unprepared(table).await.unwrap();
            let error = store.migrate().await.unwrap_err().to_string();
            assert!(error.contains("audit"), "{error}");
            let made = described(&raw, db.kind()).await;
            assert!(made.iter().all(|it| it.contains("audit") || it.contains("seaql_migrations")), "{made:?}");
            raw.execute_unprepared("DROP TABLE audit").await.unwrap();
        }
        store.migrate().await.unwrap();
        assert_eq!(described(&raw, db.kind()).await, whole);
        let expected = if db.kind() == Kind::Mariadb { 7 } else { 0 };
        let row = raw.query_one_raw(Statement::from_string(raw.get_database_backend(), "SELECT run_id FROM report_cursor"));
        assert_eq!(row.await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap(), expected, "rows stay as they are");
    }

    async fn a_database_of_the_tests_is_what_a_migration_makes(db: &TestDatabase) {
        let migrated = TestDatabase::empty(db.kind()).await;
        nodes(&migrated, 1).await[0].migrate().await.unwrap();
        let (copy, original) = (connect(db).await, connect(&migrated).await);
        let schema = described(&original, db.kind()).await;
        assert!(schema.len() > 90, "{schema:?}");
        assert_eq!(described(&copy, db.kind()).await, schema);
        for table in ["setting", "report_cursor", "seaql_migrations"] {
            assert_eq!(count(&copy, table).await, count(&original, table).await, "{table}");
        }
    }
}

async fn count(raw: &DatabaseConnection, table: &str) -> i64 {
    let text = format!("SELECT COUNT(*) FROM {table}");
    let row = raw.query_one_raw(Statement::from_string(raw.get_database_backend(), text)).await.unwrap();
    row.unwrap().try_get_by_index(0).unwrap()
}

/// Each column and each index, in the words of the database.
async fn described(raw: &DatabaseConnection, kind: Kind) -> Vec<String> {
    let text = match kind {
        Kind::Sqlite => "SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_master ORDER BY 1",
        Kind::Postgres => {
            "SELECT CONCAT_WS(' ', table_name, column_name, data_type, character_maximum_length, is_nullable, column_default) AS it \
             FROM information_schema.columns WHERE table_schema = current_schema() \
             UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY it"
        }
        Kind::Mariadb => {
            "SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable, column_default, collation_name) AS it \
             FROM information_schema.columns WHERE table_schema = DATABASE() \
             UNION ALL SELECT CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name, sub_part, non_unique) \
             FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY it"
        }
    };
    let rows = raw.query_all_raw(Statement::from_string(raw.get_database_backend(), text)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}
