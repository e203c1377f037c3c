//! The lock in front of a shard's database lease. It only saves work: what is correct is decided by the database.

use std::time::Duration;

/// Where Redis is.
#[derive(Clone)]
pub struct Place {
    pub servers: Servers,
    /// Of the Sentinels or of some nodes of the Cluster.
    pub hosts: Vec<(String, u16)>,
    pub tls: bool,
    /// PEM; None: the certificates that this machine trusts.
    pub ca: Option<Vec<u8>>,
    /// Of the data servers.
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: i64,
    pub sentinel_user: Option<String>,
    pub sentinel_password: Option<String>,
}

/// Who answers there.
#[derive(Clone)]
pub enum Servers {
    Single { url: String },
    Sentinel { master: String },
    Cluster,
}

/// What a lock answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Granted,
    /// Another node has it.
    Taken,
    /// The lock cannot be asked: go on under the database lease alone, "degraded".
    Unreachable,
}

/// One lock a shard, for a limited time. Each call answers within about a second, whatever is wrong with the other side and
/// however many shards it is about.
#[async_trait::async_trait]
pub trait Leases: Send + Sync {
    async fn take(&self, shard: i32, ttl: Duration) -> Answer;
    /// One answer a shard, in their order.
    async fn renew(&self, shards: &[i32], ttl: Duration) -> Vec<Answer>;
    /// Gives back what is ours of these.
    async fn release(&self, shards: &[i32]);
    /// What its clock says, UTC epoch ms; None: it cannot be asked, or there is none.
    async fn now(&self) -> Option<i64>;
}
