//! One Redis: `SET NX PX` to take, scripts that compare the owner's token to renew and to release.

use std::time::Duration;

use futures_util::future::join_all;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};

use super::{Answer, Leases};

const RENEW: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

pub struct Redis {
    connection: ConnectionManager,
    cluster: String,
    /// The node's id: nobody else's value is ever renewed or removed.
    token: String,
    renew: Script,
    release: Script,
}

impl Redis {
    /// Does not wait for the server: it may be away at the start, as at any later time.
    pub fn new(url: &str, cluster: &str, node: &str) -> Result<Self, String> {
        let wrong = |error: redis::RedisError| {
            format!(
                "--redis-url (CARILLON_REDIS_URL): {error}; write redis://host:6379/ or rediss://…"
            )
        };
        let client = redis::Client::open(url).map_err(wrong)?;
        let limits = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(Duration::from_millis(500)))
            .set_response_timeout(Some(Duration::from_millis(500)))
            .set_number_of_retries(1)
            .set_max_delay(Duration::from_millis(500));
        Ok(Self {
            connection: ConnectionManager::new_lazy_with_config(client, limits).map_err(wrong)?,
            cluster: cluster.to_owned(),
            token: node.to_owned(),
            renew: Script::new(RENEW),
            release: Script::new(RELEASE),
        })
    }

    fn key(&self, shard: i32) -> String {
        format!("carillon:{}:shard:{shard}", self.cluster)
    }

    async fn try_take(&self, shard: i32, ttl: Duration) -> RedisResult<bool> {
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(ttl.as_millis() as u64));
        let mut connection = self.connection.clone();
        let taken: Option<String> = redis::AsyncCommands::set_options(
            &mut connection,
            self.key(shard),
            &self.token,
            options,
        )
        .await?;
        // Not set: it may be our own key of before.
        if taken.is_some() {
            Ok(true)
        } else {
            self.try_renew(shard, ttl).await
        }
    }

    async fn try_renew(&self, shard: i32, ttl: Duration) -> RedisResult<bool> {
        let mut connection = self.connection.clone();
        let done: i64 = self
            .renew
            .key(self.key(shard))
            .arg(&self.token)
            .arg(ttl.as_millis() as u64)
            .invoke_async(&mut connection)
            .await?;
        Ok(done == 1)
    }
}

impl Redis {
    async fn renew_one(&self, shard: i32, ttl: Duration) -> Answer {
        match answer(self.try_renew(shard, ttl).await) {
            // Gone, by a restart or a flush: taken again unless another node was faster.
            Answer::Taken => self.take(shard, ttl).await,
            other => other,
        }
    }

    async fn release_one(&self, shard: i32) {
        let mut connection = self.connection.clone();
        let done: RedisResult<i64> = self
            .release
            .key(self.key(shard))
            .arg(&self.token)
            .invoke_async(&mut connection)
            .await;
        if let Err(error) = done {
            tracing::debug!(%error, shard, "the lock was not released; it ends by itself");
        }
    }
}

fn answer(result: RedisResult<bool>) -> Answer {
    match result {
        Ok(true) => Answer::Granted,
        Ok(false) => Answer::Taken,
        Err(error) => {
            tracing::debug!(%error, "redis does not answer");
            Answer::Unreachable
        }
    }
}

#[async_trait::async_trait]
impl Leases for Redis {
    async fn take(&self, shard: i32, ttl: Duration) -> Answer {
        answer(self.try_take(shard, ttl).await)
    }

    async fn renew(&self, shards: &[i32], ttl: Duration) -> Vec<Answer> {
        // At once, on one connection: a server that does not answer costs one time-out, not one for each shard.
        join_all(shards.iter().map(|shard| self.renew_one(*shard, ttl))).await
    }

    async fn release(&self, shards: &[i32]) {
        join_all(shards.iter().map(|shard| self.release_one(*shard))).await;
    }

    async fn is_there(&self) -> bool {
        let mut connection = self.connection.clone();
        let answer: RedisResult<String> = redis::cmd("PING").query_async(&mut connection).await;
        answer.is_ok()
    }
}
