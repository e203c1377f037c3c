//! What each fault does. A fault repairs what it has broken before it ends.

mod admin;
mod client;
mod database;
mod executor;
mod flows;
mod http;
mod items;
mod limits;
mod loops;
mod redis;
mod shards;
mod sqlite;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::spacing::Spacing;
use super::target;
use crate::clock::{Millis, now};
use crate::cluster::Cluster;
use crate::cluster::admin::Admin;
use crate::cluster::recorder::Recorder;
use crate::executor::Kind;
use crate::random::Random;

/// For an executor that has rested long enough.
const FREE_WITHIN: Duration = Duration::from_secs(120);
/// Between two looks for one.
const LOOK: Duration = Duration::from_secs(1);

/// What a fault acts on: the cluster, its own random numbers, the target, and notes for the report.
pub struct Scene {
    pub cluster: Arc<Cluster>,
    pub random: Random,
    pub target: String,
    pub held: bool,
    /// When it began: what an executor's rest made it wait before does not count.
    pub from: Millis,
    pub note: String,
    spacing: Arc<Mutex<Spacing>>,
}

impl Scene {
    pub fn new(cluster: Arc<Cluster>, random: Random, spacing: Arc<Mutex<Spacing>>) -> Self {
        Self { cluster, random, target: String::new(), held: false, from: now(), note: String::new(), spacing }
    }

    /// A node, most likely one that holds a shard.
    pub async fn target_node(&mut self) -> anyhow::Result<Arc<Admin>> {
        let found = target::admin(&self.cluster, &mut self.random).await;
        let (admin, held) = found.context("no node is up")?;
        self.target.clone_from(&admin.name);
        self.held = held;
        Ok(admin)
    }

    /// One of the executors, of this kind or of any. Waits until one of them has had no fault for a while.
    pub async fn executor(&mut self, kind: Option<Kind>) -> anyhow::Result<Arc<Recorder>> {
        let cluster = self.cluster.clone();
        let fits = |recorder: &&Arc<Recorder>| kind.is_none_or(|kind| recorder.kind == kind);
        let names: Vec<String> = cluster.recorders.iter().filter(fits).map(|it| it.name.clone()).collect();
        anyhow::ensure!(!names.is_empty(), "no executor");
        self.rested(|| names.clone()).await
    }

    /// One that calls loops. Waits until one of them has had no fault for a while.
    pub async fn executor_of_loops(&mut self) -> anyhow::Result<Arc<Recorder>> {
        let cluster = self.cluster.clone();
        self.rested(|| cluster.observer.executors()).await
    }

    /// One of those that have these names at the moment, as soon as one of them has had no fault for a while.
    async fn rested(&mut self, names: impl Fn() -> Vec<String>) -> anyhow::Result<Arc<Recorder>> {
        let end = Instant::now() + FREE_WITHIN;
        loop {
            let of_now = names();
            let begun = {
                let mut spacing = self.spacing.lock().unwrap_or_else(PoisonError::into_inner);
                spacing.begin(&of_now, &mut self.random, Instant::now())
            };
            match begun {
                Ok(name) => {
                    let found = self.cluster.recorders.iter().find(|recorder| recorder.name == name);
                    let found = found.cloned().context("no executor");
                    self.target = name;
                    self.from = now();
                    return found;
                }
                Err(_) if Instant::now() > end => anyhow::bail!("no executor was free for this fault in time"),
                // Another one may have a loop sooner.
                Err(wait) => tokio::time::sleep(wait.min(LOOK)).await,
            }
        }
    }

    /// To be called when the fault has repaired what it has broken.
    pub fn end(&self) {
        self.spacing.lock().unwrap_or_else(PoisonError::into_inner).end(&self.target, Instant::now());
    }
}

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    match name.split_once('_').map_or(name, |(first, _)| first) {
        "admin" | "lease" | "abort" => admin::play(name, scene).await,
        "redis" => redis::play(name, scene).await,
        "db" => database::play(name, scene).await,
        "sqlite" => sqlite::play(name, scene).await,
        "map" => items::killed(scene).await,
        "http" => http::sender_killed(scene).await,
        "limit" => limits::holder_killed(scene).await,
        "loop" => loops::play(name, scene).await,
        "flow" => flows::last_parents(scene).await,
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
