//! Which shards this node works: the lock, the lease with its epoch in the database, the clock that both are judged by, and what nodes
//! tell each other.

pub(crate) mod clock_guard;
pub(crate) mod coordinator;
pub(crate) mod degraded;
pub(crate) mod epochs;
pub(crate) mod held_shards;
pub(crate) mod hints;
pub(crate) mod lease_changes;
pub(crate) mod lock;
pub(crate) mod pending_hints;
pub mod redis;
pub(crate) mod scan_checks;
pub(crate) mod stalled_shards;
pub(crate) mod version_skew;

pub use self::redis::lock::{LockAnswer, Redis};
pub use self::redis::url::{RedisForm, RedisUrl};
pub use lock::ShardLock;
