//! Redis: `SET NX PX` to take, scripts that compare the owner's token to renew and to release.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use redis::{ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};

use crate::lease::redis::connection::{Connection, LiveConnection, Subscriber};
use crate::lease::redis::url::RedisUrl;

const RENEW: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";
const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/// Of one call, with the search and the connection that it may need first.
const LIMIT: Duration = Duration::from_secs(1);

/// What a lock answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAnswer {
    Granted,
    /// Another node has it.
    Taken,
    /// The lock cannot be asked: go on under the database lease alone, "degraded".
    Unreachable,
}

pub struct Redis {
    connection: Connection,
    pub(super) subscriber: Subscriber,
    pub(super) cluster: String,
    /// The node's id: no other value is ever renewed or removed.
    token: String,
    renew: Script,
    release: Script,
    /// The last call failed: logged once, not with each.
    failing: AtomicBool,
}

impl Redis {
    /// Does not wait for the server: it may be away at the start, as at any later time.
    pub fn new(url: &str, ca: Option<&[u8]>, cluster: &str, node: &str) -> Result<Self, String> {
        let url = RedisUrl::parse(url)?;
        let connection = Connection::new(&url, ca);
        Ok(Self {
            connection: connection.map_err(|error| error.to_string())?,
            subscriber: Subscriber::new(url, ca),
            cluster: cluster.to_owned(),
            token: node.to_owned(),
            renew: Script::new(RENEW),
            release: Script::new(RELEASE),
            failing: AtomicBool::new(false),
        })
    }

    fn key(&self, shard: i32) -> String {
        format!("carillon:{}:shard:{shard}", self.cluster)
    }

    /// Within the limit, on a connection that is made if there is none.
    pub(super) async fn ask<T>(&self, question: impl AsyncFnOnce(LiveConnection) -> RedisResult<T>) -> Option<T> {
        let asking = async { question(self.connection.get().await?).await };
        let complaint = match tokio::time::timeout(LIMIT, asking).await {
            Ok(Ok(answer)) => {
                self.failing.store(false, Ordering::Relaxed);
                return Some(answer);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        self.connection.forget();
        if !self.failing.swap(true, Ordering::Relaxed) {
            tracing::warn!(error = complaint, "Redis cannot be asked");
        }
        None
    }

    async fn take_one(&self, shard: i32, ttl: Duration) -> LockAnswer {
        let ttl_ms = ttl.as_millis() as u64;
        let options = SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(SetExpiry::PX(ttl_ms));
        let taken = self.ask(async |mut live| {
            let key = self.key(shard);
            let taken: Option<String> = redis::AsyncCommands::set_options(&mut live, key, &self.token, options).await?;
            // Not set: it may be our own key of before.
            match taken {
                Some(_) => Ok(true),
                None => self.run(&self.renew, shard, Some(ttl_ms), live).await,
            }
        });
        answer(taken.await)
    }

    async fn renew_one(&self, shard: i32, ttl: Duration) -> LockAnswer {
        let ttl_ms = Some(ttl.as_millis() as u64);
        let renewed = self.ask(async |live| self.run(&self.renew, shard, ttl_ms, live).await);
        match answer(renewed.await) {
            // Gone, by a restart or a flush: taken again unless another node was faster.
            LockAnswer::Taken => self.take_one(shard, ttl).await,
            other => other,
        }
    }

    async fn run(
        &self,
        script: &Script,
        shard: i32,
        ttl_ms: Option<u64>,
        mut live: LiveConnection,
    ) -> RedisResult<bool> {
        let mut call = script.key(self.key(shard));
        call.arg(&self.token);
        if let Some(ttl_ms) = ttl_ms {
            call.arg(ttl_ms);
        }
        let done: i64 = call.invoke_async(&mut live).await?;
        Ok(done == 1)
    }
}

impl Redis {
    pub async fn take(&self, shard: i32, ttl: Duration) -> LockAnswer {
        self.take_one(shard, ttl).await
    }

    pub async fn renew(&self, shards: &[i32], ttl: Duration) -> Vec<LockAnswer> {
        // At once, on one connection: a server that does not answer costs one time-out, not one for each shard.
        join_all(shards.iter().map(|shard| self.renew_one(*shard, ttl))).await
    }

    pub async fn release(&self, shards: &[i32]) {
        let released =
            shards.iter().map(|shard| self.ask(async |live| self.run(&self.release, *shard, None, live).await));
        // What could not be released ends by itself.
        join_all(released).await;
    }

    pub async fn now(&self) -> Option<i64> {
        let time = self.ask(async |mut live| {
            let (seconds, micros): (i64, i64) = redis::cmd("TIME").query_async(&mut live).await?;
            Ok(seconds * 1000 + micros / 1000)
        });
        time.await
    }
}

fn answer(granted: Option<bool>) -> LockAnswer {
    match granted {
        Some(true) => LockAnswer::Granted,
        Some(false) => LockAnswer::Taken,
        None => LockAnswer::Unreachable,
    }
}
