//! The schema: made once, refused when it is newer, asked for when it may not be made.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::ScheduleDraft;
use carillon_store::Store;
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use super::rows::connect;
use crate::conformance::fixture::Fixture;
use crate::services::{Kind, TestDatabase};

/// So many nodes on one database; only one where it takes only one.
pub async fn nodes(db: &TestDatabase, wanted: usize) -> Vec<Arc<Store>> {
    let count = if db.kind() == Kind::Sqlite { 1 } else { wanted };
    let opening = (0..count).map(|_| async { Store::open(&db.store()).await.unwrap() });
    join_all(opening).await
}

databases! {
    async fn nodes_that_start_at_once_migrate_an_empty_database_once(db: &TestDatabase) {
        let stores = nodes(db, 3).await;
        let lacking = stores[0].check_schema().await.unwrap_err().to_string();
        assert!(lacking.starts_with("the database lacks the migration m0001_first; run `carillon migrate`"), "{lacking}");
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

    // covers: F9
    async fn cursors_of_fixed_delays_that_are_there_get_their_job_by_the_migration(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let delayed = fixture.ticking_with("delayed", |draft| draft.schedule = ScheduleDraft::fixed_delay(7)).await;
        fixture.ticking("by the clock").await;
        // As the version before left it.
        let on = if db.kind() == Kind::Mariadb { " ON job_clock" } else { "" };
        fixture.sql(&format!("DROP INDEX job_clock_delayed{on}")).await;
        fixture.sql("ALTER TABLE job_clock DROP COLUMN delayed_job").await;
        fixture.sql("DELETE FROM seaql_migrations WHERE version = 'm0014_chain'").await;
        fixture.store.migrate().await.unwrap();
        let filled = fixture.rows("SELECT job_id FROM job_clock WHERE delayed_job = job_id").await;
        let filled: Vec<i64> = filled.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
        assert_eq!(filled, [delayed.id]);
        assert_eq!(fixture.count("job_clock", "delayed_job IS NULL").await, 1);
    }
}
