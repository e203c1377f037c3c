//! The nodes: each running process says that it lives.

use crate::error::Result;
use crate::views::LeaseStore;
use carillon_scheduler::{Millis, zone_data};
use sea_orm::FromQueryResult;

#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Node {
    pub id: String,
    pub address: String,
    pub version: String,
    pub seen_at: Millis,
    /// What its build can do. None: a node of an earlier version.
    pub features: Option<String>,
}

impl Node {
    /// Whether it can read and run what needs a feature.
    pub fn knows(&self, feature: &str) -> bool {
        self.features.as_deref().is_some_and(|all| all.split(',').any(|known| known == feature))
    }
}

/// Requests of HTTP jobs with callbacks, patterns, two signatures and tokens of authorization servers.
pub const HTTP_REQUESTS: &str = "http2";

/// What this process knows that an earlier one may not, with commas between.
const FEATURES: &str = HTTP_REQUESTS;

/// What this process is, as nodes report it to each other: Carillon's version, and the time zone data that it computes with.
pub fn version() -> String {
    format!("{}, tzdata {}", env!("CARGO_PKG_VERSION"), zone_data().edition())
}

impl LeaseStore<'_> {
    pub async fn report_node(self, id: &str, address: &str, now: Millis) -> Result<()> {
        let text = "UPDATE node SET seen_at = ?, address = ? WHERE id = ?";
        let updated = self.execute(&self.write, text, values![now, address, id]).await?;
        if updated == 0 {
            let row = named![id, address, version: version(), seen_at: now, features: FEATURES];
            self.insert_row(&self.write, "node", row).await?;
        }
        Ok(())
    }

    /// An orderly stop: the node is no longer counted, but stays known as the last one that lived.
    pub async fn retire_node(self, id: &str) -> Result<()> {
        self.execute(&self.write, "UPDATE node SET address = '' WHERE id = ?", values![id]).await.map(drop)
    }

    /// When any node was last alive; None on a new database.
    pub async fn last_alive_at(self) -> Result<Option<Millis>> {
        Ok(self.tuple::<Option<_>>(&self.write, "SELECT MAX(seen_at) FROM node", vec![]).await?.flatten())
    }

    /// Nodes seen since `since`, by id; older ones are history and are removed.
    pub async fn live_nodes(self, since: Millis) -> Result<Vec<Node>> {
        let text =
            "SELECT id, address, version, seen_at, features FROM node WHERE seen_at >= ? AND address <> '' ORDER BY id";
        self.all(&self.write, text, values![since]).await
    }

    pub async fn forget_dead_nodes(self, before: Millis) -> Result<()> {
        self.execute(&self.write, "DELETE FROM node WHERE seen_at < ?", values![before]).await.map(drop)
    }
}
