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

/// One lock a shard, for a limited time. Each call answers within about a second, whatever is wrong with the other side and
/// however many shards it is about.
#[async_trait::async_trait]
pub trait Leases: Send + Sync {
    async fn take(&self, shard: i32, ttl: Duration) -> Answer;
    /// One answer a shard, in their order.
    async fn renew(&self, shards: &[i32], ttl: Duration) -> Vec<Answer>;
    /// Gives back what is ours of these.
    async fn release(&self, shards: &[i32]);
    /// Can it be asked now?
    async fn is_there(&self) -> bool;
}
