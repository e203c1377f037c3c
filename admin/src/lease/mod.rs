//! The lock in front of a shard's database lease. It only saves work: what is correct is decided by the database.

mod local;
mod redis;

use std::time::Duration;

pub use self::redis::Redis;
pub use local::Local;

/// What a lock answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Granted,
    /// Another node has it.
    Taken,
    /// The lock cannot be asked: go on under the database lease alone, "degraded".
    Unreachable,
}

/// One lock a shard, for a limited time.
#[async_trait::async_trait]
pub trait Leases: Send + Sync {
    async fn take(&self, shard: i32, ttl: Duration) -> Answer;
    async fn renew(&self, shard: i32, ttl: Duration) -> Answer;
    async fn release(&self, shard: i32);
}
