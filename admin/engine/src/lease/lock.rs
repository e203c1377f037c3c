//! The lock in front of a shard's database lease. It only saves work: what is correct is decided by the database.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::Stream;

use crate::lease::redis::lock::{LockAnswer, Redis};

/// One lock a shard, for a limited time. Each call answers within about a second, also when the other side does not answer, and
/// however many shards it is about.
pub enum ShardLock {
    /// No Redis is set: the lease in the database is enough.
    Disabled,
    Redis(Box<Redis>),
}

impl ShardLock {
    pub async fn take(&self, shard: i32, ttl: Duration) -> LockAnswer {
        match self {
            Self::Disabled => LockAnswer::Granted,
            Self::Redis(redis) => redis.take(shard, ttl).await,
        }
    }

    /// One answer a shard, in their order.
    pub async fn renew(&self, shards: &[i32], ttl: Duration) -> Vec<LockAnswer> {
        match self {
            Self::Disabled => vec![LockAnswer::Granted; shards.len()],
            Self::Redis(redis) => redis.renew(shards, ttl).await,
        }
    }

    /// Gives back what is ours of these.
    pub async fn release(&self, shards: &[i32]) {
        if let Self::Redis(redis) = self {
            redis.release(shards).await;
        }
    }

    /// Nodes can tell each other about their shards.
    pub fn can_hint(&self) -> bool {
        matches!(self, Self::Redis(_))
    }

    /// Tells the other nodes that work has come to these shards.
    pub async fn hint(&self, shards: &BTreeSet<i32>) {
        if let Self::Redis(redis) = self {
            redis.hint(shards.iter().copied()).await;
        }
    }

    /// What the nodes tell each other from now on; None: there is no way to hear it now. The stream may end.
    pub async fn hints(&self) -> Option<impl Stream<Item = Vec<i32>> + use<>> {
        match self {
            Self::Disabled => None,
            Self::Redis(redis) => redis.hints().await,
        }
    }

    /// What its clock says, UTC epoch ms; None: it cannot be asked, or there is none.
    pub async fn now(&self) -> Option<i64> {
        match self {
            Self::Disabled => None,
            Self::Redis(redis) => redis.now().await,
        }
    }
}
