//! No Redis is set: the lease in the database is enough.

use std::time::Duration;

use crate::lease::lock::{Answer, Leases};

pub struct Local;

#[async_trait::async_trait]
impl Leases for Local {
    async fn take(&self, _shard: i32, _ttl: Duration) -> Answer {
        Answer::Granted
    }

    async fn renew(&self, shards: &[i32], _ttl: Duration) -> Vec<Answer> {
        vec![Answer::Granted; shards.len()]
    }

    async fn release(&self, _shards: &[i32]) {}

    async fn now(&self) -> Option<i64> {
        None
    }
}
