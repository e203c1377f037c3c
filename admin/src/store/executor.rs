//! Executors: who has registered for which app, and until when that counts.

use sea_orm::{QueryResult, Value};

use super::{Result, Store};
use carillon_scheduler::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// The name it registered under; there need not be such an app yet.
    pub app: String,
    /// Exactly as registered: it is the executor's identity.
    pub address: String,
    /// Present with our own SDK only: new at each start.
    pub boot_id: Option<String>,
    pub capabilities: Option<String>,
    pub registered_at: Millis,
    pub seen_at: Millis,
    pub expires_at: Millis,
}

impl Executor {
    pub fn is_live(&self, now: Millis) -> bool {
        self.expires_at > now
    }
}

const COLUMNS: &str = "app, address, boot_id, capabilities, registered_at, seen_at, expires_at";

impl Store {
    /// A heartbeat: a new row or a longer lease. True if the executor was not there, was over, or has started anew.
    pub async fn register_executor(&self, executor: &Executor) -> Result<bool> {
        let tx = self.begin().await?;
        let key = vec![
            executor.app.as_str().into(),
            executor.address.as_str().into(),
        ];
        let text = format!(
            "SELECT {COLUMNS} FROM executor WHERE app = ? AND address = ?{}",
            self.for_update()
        );
        let old = self
            .one(&tx, &text, key)
            .await?
            .map(|row| read(&row))
            .transpose()?;
        let changed = old
            .as_ref()
            .is_none_or(|old| !old.is_live(executor.seen_at) || old.boot_id != executor.boot_id);
        let registered_at = if changed {
            executor.registered_at
        } else {
            old.as_ref().map_or(0, |old| old.registered_at)
        };
        let rest: Vec<Value> = vec![
            executor.boot_id.clone().into(),
            executor.capabilities.clone().into(),
            registered_at.into(),
            executor.seen_at.into(),
            executor.expires_at.into(),
            executor.app.as_str().into(),
            executor.address.as_str().into(),
        ];
        let text = match old {
            Some(_) => {
                "UPDATE executor SET boot_id=?, capabilities=?, registered_at=?, seen_at=?, expires_at=? WHERE app=? AND address=?"
            }
            None => {
                "INSERT INTO executor (boot_id, capabilities, registered_at, seen_at, expires_at, app, address) VALUES (?,?,?,?,?,?,?)"
            }
        };
        match self.execute(&tx, text, rest).await {
            // Its first two heartbeats at once: the other one has made the row.
            Err(error) if error.is_unique_violation() => Ok(false),
            other => {
                other?;
                tx.commit().await?;
                Ok(changed)
            }
        }
    }

    pub async fn deregister_executor(&self, app: &str, address: &str) -> Result<bool> {
        let text = "DELETE FROM executor WHERE app = ? AND address = ?";
        Ok(self
            .execute(&self.write, text, vec![app.into(), address.into()])
            .await?
            .rows_affected()
            > 0)
    }

    /// All registrations, live or not, by app and address.
    pub async fn executors(&self) -> Result<Vec<Executor>> {
        let text = format!("SELECT {COLUMNS} FROM executor ORDER BY app, address");
        self.all(&self.read, &text, vec![])
            .await?
            .iter()
            .map(read)
            .collect()
    }

    /// Rows that have been silent since `before` are history.
    pub async fn forget_executors(&self, before: Millis) -> Result<u64> {
        Ok(self
            .execute(
                &self.write,
                "DELETE FROM executor WHERE expires_at < ?",
                vec![before.into()],
            )
            .await?
            .rows_affected())
    }
}

fn read(row: &QueryResult) -> Result<Executor> {
    Ok(Executor {
        app: row.try_get_by_index(0)?,
        address: row.try_get_by_index(1)?,
        boot_id: row.try_get_by_index(2)?,
        capabilities: row.try_get_by_index(3)?,
        registered_at: row.try_get_by_index(4)?,
        seen_at: row.try_get_by_index(5)?,
        expires_at: row.try_get_by_index(6)?,
    })
}
