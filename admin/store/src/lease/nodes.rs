//! The nodes: each running process says that it lives.

use crate::{Result, Store};
use carillon_scheduler::{Millis, TZDATA};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: String,
    pub address: String,
    pub version: String,
    pub seen_at: Millis,
}

/// What this process is, as its nodes tell each other: Carillon's version, and the zones that it reckons with.
pub fn version() -> String {
    format!("{}, tzdata {TZDATA}", env!("CARGO_PKG_VERSION"))
}

impl Store {
    pub async fn report_node(&self, id: &str, address: &str, now: Millis) -> Result<()> {
        let text = "UPDATE node SET seen_at = ?, address = ? WHERE id = ?";
        let updated = self.execute(&self.write, text, vec![now.into(), address.into(), id.into()]).await?;
        if updated.rows_affected() == 0 {
            let text = "INSERT INTO node (id, address, version, seen_at) VALUES (?, ?, ?, ?)";
            let values = vec![id.into(), address.into(), version().into(), now.into()];
            self.execute(&self.write, text, values).await?;
        }
        Ok(())
    }

    /// An orderly stop: the node is no longer counted, but stays known as the last one that lived.
    pub async fn retire_node(&self, id: &str) -> Result<()> {
        self.execute(&self.write, "UPDATE node SET address = '' WHERE id = ?", vec![id.into()]).await?;
        Ok(())
    }

    /// When any node was last alive; None on a new database.
    pub async fn last_alive_at(&self) -> Result<Option<Millis>> {
        let row = self.one(&self.write, "SELECT MAX(seen_at) FROM node", vec![]).await?;
        Ok(row.map(|row| row.try_get_by_index::<Option<i64>>(0)).transpose()?.flatten())
    }

    /// Nodes seen since `since`, by id; older ones are history and are removed.
    pub async fn live_nodes(&self, since: Millis) -> Result<Vec<Node>> {
        let text = "SELECT id, address, version, seen_at FROM node WHERE seen_at >= ? AND address <> '' ORDER BY id";
        self.all(&self.write, text, vec![since.into()])
            .await?
            .iter()
            .map(|row| {
                Ok(Node {
                    id: row.try_get_by_index(0)?,
                    address: row.try_get_by_index(1)?,
                    version: row.try_get_by_index(2)?,
                    seen_at: row.try_get_by_index(3)?,
                })
            })
            .collect()
    }

    pub async fn forget_dead_nodes(&self, before: Millis) -> Result<()> {
        self.execute(&self.write, "DELETE FROM node WHERE seen_at < ?", vec![before.into()]).await?;
        Ok(())
    }
}
