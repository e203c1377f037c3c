//! Brings the schema up to date, one node at a time, and refuses what this program does not know.

use carillon_migrations::Migrator;
use sea_orm::{ConnectionTrait, DbBackend};
use sea_orm_migration::MigratorTrait;

use super::{Error, Result, Store};

/// Any number, the same for all nodes: the name of the lock under which one of them migrates.
const LOCK: i64 = 0x0063_6172_696c_6c6f;

impl Store {
    /// Applies the missing steps. On a shared database the others wait meanwhile.
    pub async fn migrate(&self) -> Result<()> {
        self.refuse_newer().await?;
        match self.backend {
            DbBackend::Sqlite => Migrator::up(&self.write, None).await?,
            DbBackend::Postgres => {
                self.migrate_under(
                    &format!("SELECT pg_advisory_lock({LOCK})"),
                    &format!("SELECT pg_advisory_unlock({LOCK})"),
                )
                .await?
            }
            _ => {
                self.migrate_under(
                    &format!("SELECT GET_LOCK('carillon-{LOCK}', 600)"),
                    &format!("SELECT RELEASE_LOCK('carillon-{LOCK}')"),
                )
                .await?
            }
        }
        Ok(())
    }

    /// The lock belongs to a session, so a connection of its own holds it while the steps run on another.
    async fn migrate_under(&self, lock: &str, unlock: &str) -> Result<()> {
        use sea_orm::TransactionTrait;
        let holder = self.read.begin().await?;
        holder
            .query_one_raw(super::dialect::statement(self.backend, lock, vec![]))
            .await?;
        let result = Migrator::up(&self.write, None).await;
        holder
            .query_one_raw(super::dialect::statement(self.backend, unlock, vec![]))
            .await?;
        holder.commit().await?;
        Ok(result?)
    }

    /// For `--no-migrate`: the schema must be the one that this program was built for.
    pub async fn check_schema(&self) -> Result<()> {
        let applied = self.refuse_newer().await?;
        match carillon_migrations::names()
            .iter()
            .find(|name| !applied.contains(name))
        {
            None => Ok(()),
            Some(step) => Err(Error::Schema(format!(
                "the database lacks the migration {step}; run `carillon migrate`, or start without --no-migrate"
            ))),
        }
    }

    async fn refuse_newer(&self) -> Result<Vec<String>> {
        let applied = self.applied_steps().await?;
        let known = carillon_migrations::names();
        match applied.iter().find(|name| !known.contains(name)) {
            None => Ok(applied),
            Some(step) => Err(Error::Schema(format!(
                "the database is newer than this program: it has the migration {step}; use the Carillon that made it, or a newer one"
            ))),
        }
    }

    async fn applied_steps(&self) -> Result<Vec<String>> {
        let exists = match self.backend {
            DbBackend::Sqlite => {
                "SELECT COUNT(*) FROM sqlite_master WHERE name = 'seaql_migrations'"
            }
            DbBackend::Postgres => {
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'seaql_migrations' AND table_schema = current_schema()"
            }
            _ => {
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'seaql_migrations' AND table_schema = DATABASE()"
            }
        };
        let row = self.one(&self.write, exists, vec![]).await?;
        let count: i64 = row
            .map(|row| row.try_get_by_index(0))
            .transpose()?
            .unwrap_or(0);
        if count == 0 {
            return Ok(vec![]);
        }
        let rows = self
            .all(
                &self.write,
                "SELECT version FROM seaql_migrations ORDER BY version",
                vec![],
            )
            .await?;
        rows.iter()
            .map(|row| Ok(row.try_get_by_index(0)?))
            .collect()
    }
}
