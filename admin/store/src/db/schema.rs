//! Brings the schema up to date, one node at a time, and refuses what this program does not know.

use carillon_migrations::Migrator;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, TransactionTrait};
use sea_orm_migration::MigratorTrait;

use crate::db::connect;
use crate::db::pool::target::KEEPALIVES;
use crate::error::{Error, Result};
use crate::store::Store;

/// Any number, the same for all nodes: the name of the lock under which one of them migrates.
const LOCK: i64 = 0x0063_6172_696c_6c6f;

impl Store {
    /// Applies the missing steps, over connections of its own: a step may take longer than any other statement may. On a shared
    /// database other nodes wait meanwhile.
    ///
    /// A start with nothing to apply takes no lock and opens no connection without a limit: if that connection fell silent, this
    /// node would wait until TCP gives up, and the server would keep the lock for as long and hold up the start of other nodes.
    pub async fn migrate(&self) -> Result<()> {
        if self.missing_step(&self.write).await?.is_none() {
            return Ok(());
        }
        let db = connect::open_to_migrate(&self.database).await?;
        let done = self.migrate_on(&db).await;
        db.close().await?;
        done
    }

    async fn migrate_on(&self, db: &DatabaseConnection) -> Result<()> {
        match self.backend {
            DbBackend::Sqlite => {
                self.refuse_newer(db).await?;
                Ok(Migrator::up(db, None).await?)
            }
            DbBackend::Postgres => {
                let tx = db.begin().await?;
                tx.execute_unprepared(KEEPALIVES).await?;
                // It ends with the transaction, also when this process dies.
                let lock = format!("SELECT pg_advisory_xact_lock({LOCK})");
                self.query(&tx, &lock, vec![]).await?;
                self.refuse_newer(&tx).await?;
                Migrator::up(&tx, None).await?;
                Ok(tx.commit().await?)
            }
            _ => self.migrate_mysql(db).await,
        }
    }

    /// The lock belongs to a session, so a connection of its own holds it while the steps run on another.
    async fn migrate_mysql(&self, db: &DatabaseConnection) -> Result<()> {
        // Named by the database too: locks are the whole server's.
        let name = format!("CONCAT('carillon-', MD5(DATABASE()), '-{LOCK}')");
        let holder = db.begin().await?;
        let got: Option<Option<i64>> = self.tuple(&holder, &format!("SELECT GET_LOCK({name}, 600)"), vec![]).await?;
        if got.flatten() != Some(1) {
            return Err(Error::Schema(
                "another node has been migrating this database for ten minutes; try again when it is done".into(),
            ));
        }
        let result = match self.refuse_newer(db).await {
            Ok(_) => Migrator::up(db, None).await.map_err(Error::from),
            Err(error) => Err(error),
        };
        self.query(&holder, &format!("SELECT RELEASE_LOCK({name})"), vec![]).await?;
        holder.commit().await?;
        result
    }

    /// For `--no-migrate`: the schema must be the one that this program was built for.
    pub async fn check_schema(&self) -> Result<()> {
        match self.missing_step(&self.write).await? {
            None => Ok(()),
            Some(step) => Err(Error::Schema(format!(
                "the database lacks the migration {step}; run `carillon migrate`, or start without --no-migrate"
            ))),
        }
    }

    async fn missing_step(&self, db: &impl ConnectionTrait) -> Result<Option<String>> {
        let applied = self.refuse_newer(db).await?;
        let mut known = carillon_migrations::names().into_iter();
        Ok(known.find(|name| !applied.contains(name)))
    }

    async fn refuse_newer(&self, db: &impl ConnectionTrait) -> Result<Vec<String>> {
        let applied = self.applied_steps(db).await?;
        let known = carillon_migrations::names();
        match applied.iter().find(|name| !known.contains(name)) {
            None => Ok(applied),
            Some(step) => Err(Error::Schema(format!(
                "the database is newer than this program: it has the migration {step}; use the Carillon that made it, or a newer one"
            ))),
        }
    }

    async fn applied_steps(&self, db: &impl ConnectionTrait) -> Result<Vec<String>> {
        let exists = match self.backend {
            DbBackend::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE name = 'seaql_migrations'",
            DbBackend::Postgres => {
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'seaql_migrations' AND table_schema = current_schema()"
            }
            _ => {
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'seaql_migrations' AND table_schema = DATABASE()"
            }
        };
        if self.tuple(db, exists, vec![]).await?.is_none_or(|count: i64| count == 0) {
            return Ok(vec![]);
        }
        self.tuples(db, "SELECT version FROM seaql_migrations ORDER BY version", vec![]).await
    }
}
