//! What each card does. A card heals what it has broken before it ends.

mod admin;
mod client;
mod database;
mod executor;
mod redis;
mod shards;
mod sqlite;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::aim;
use crate::cluster::Cluster;
use crate::cluster::admin::Admin;
use crate::cluster::recorder::Recorder;
use crate::executor::Kind;
use crate::random::Random;

/// What a card is played on: the cluster, its own random numbers, the target, and notes for the report.
pub struct Scene {
    pub cluster: Arc<Cluster>,
    pub random: Random,
    pub target: String,
    pub held: bool,
    pub note: String,
}

impl Scene {
    pub fn new(cluster: Arc<Cluster>, random: Random) -> Self {
        Self { cluster, random, target: String::new(), held: false, note: String::new() }
    }

    /// A node, most likely one that holds a shard.
    pub async fn aim(&mut self) -> anyhow::Result<Arc<Admin>> {
        let aimed = aim::admin(&self.cluster, &mut self.random).await;
        let (admin, held) = aimed.context("no node is up")?;
        self.target.clone_from(&admin.name);
        self.held = held;
        Ok(admin)
    }

    /// One of the executors, of this kind or of any.
    pub fn executor(&mut self, kind: Option<Kind>) -> anyhow::Result<Arc<Recorder>> {
        let fits = |recorder: &&Arc<Recorder>| kind.is_none_or(|kind| recorder.kind == kind);
        let list: Vec<Arc<Recorder>> = self.cluster.recorders.iter().filter(fits).cloned().collect();
        let chosen = self.random.pick(&list).context("no executor")?.clone();
        self.target.clone_from(&chosen.name);
        Ok(chosen)
    }
}

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    match name.split_once('_').map_or(name, |(first, _)| first) {
        "admin" | "trust" | "abort" => admin::play(name, scene).await,
        "redis" => redis::play(name, scene).await,
        "db" => database::play(name, scene).await,
        "sqlite" => sqlite::play(name, scene).await,
        "shards" => shards::set(scene).await,
        "slow" | "large" | "logins" => client::play(name, scene).await,
        _ => executor::play(name, scene).await,
    }
}

/// Waits for a condition until the limit; whether it came true.
pub async fn until(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    condition()
}
