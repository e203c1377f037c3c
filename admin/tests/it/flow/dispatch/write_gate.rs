//! A place in PostgreSQL where a write of the engine stands until the test lets it go on.

use carillon_testkit::wait_for;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};

use crate::services::TestDatabase;

/// Holds up a change of the table `run` that fulfils a condition, until it is opened.
pub struct Gate(DatabaseConnection);

impl Gate {
    pub async fn before(db: &TestDatabase, condition: &str) -> Self {
        let mut options = sea_orm::ConnectOptions::new(db.direct_url());
        options.max_connections(1);
        let outside = sea_orm::Database::connect(options).await.unwrap();
        let trigger = format!(
            "CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END $$; \
             CREATE TRIGGER held_up BEFORE UPDATE ON run FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION hold_up(); \
             SELECT pg_advisory_lock(7)"
        );
        outside.execute_unprepared(&trigger).await.unwrap();
        Self(outside)
    }

    pub async fn reached(&self) {
        wait_for("the change is held up", async || {
            let text = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
            let asked = Statement::from_string(sea_orm::DbBackend::Postgres, text);
            let row = self.0.query_one_raw(asked).await.unwrap().unwrap();
            row.try_get_by_index::<i64>(0).unwrap() > 0
        })
        .await;
    }

    pub async fn open(&self) {
        let text = "SELECT pg_advisory_unlock(7)";
        self.0.execute_unprepared(text).await.unwrap();
    }
}
