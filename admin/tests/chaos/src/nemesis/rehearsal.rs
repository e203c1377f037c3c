//! One thing that goes wrong, in the middle of many runs a second: what it costs is easier to read than after all faults of a run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::faults::Scene;
use super::{rest, target};
use crate::clock::now;
use crate::cluster::Cluster;
use crate::options::Rehearsal;
use crate::random::Random;
use crate::record::{Class, Fault};

/// Before the fault, and after it.
const AROUND_MS: i64 = 10_000;
const REDIS_AWAY_MS: i64 = 60_000;
const KILLED_MS: i64 = 25_000;
/// Between the two changes of the number of shards.
const RESHARDED_MS: i64 = 20_000;
const RECOVERED_WITHIN: Duration = Duration::from_secs(15);

pub async fn play(cluster: &Arc<Cluster>, rehearsal: Rehearsal, seed: u64) -> Vec<Fault> {
    rest(AROUND_MS).await;
    let mut scene = Scene::new(cluster.clone(), Random::new(seed), Arc::default());
    let mut faults = vec![];
    let done = match rehearsal {
        Rehearsal::RedisAway => redis_away(&mut scene, &mut faults).await,
        Rehearsal::NodeKilled => node_killed(&mut scene, &mut faults).await,
        Rehearsal::Reshard => reshard(&mut scene, &mut faults).await,
        Rehearsal::UnknownOutcomes => unknown_outcomes(&mut scene, &mut faults).await,
    };
    if let Err(error) = done {
        let note = format!("{error:#}");
        faults.push(Fault { failed: true, ..fault(rehearsal, &scene, Class::Harmless, note) });
    }
    rest(AROUND_MS).await;
    faults
}

fn fault(rehearsal: Rehearsal, scene: &Scene, class: Class, note: String) -> Fault {
    let at = now();
    Fault {
        name: rehearsal.as_str().to_owned(),
        class,
        target: scene.target.clone(),
        from: at,
        to: at,
        note,
        failed: false,
        held: true,
    }
}

/// Every node must say that it is degraded, and that it is no more.
async fn redis_away(scene: &mut Scene, faults: &mut Vec<Fault>) -> anyhow::Result<()> {
    let cluster = scene.cluster.clone();
    scene.target = "redis".into();
    let redis = cluster.redis.as_ref().context("no Redis")?;
    let mut away = fault(Rehearsal::RedisAway, scene, Class::Redis, String::new());
    redis.lock().await.kill().await;
    rest(REDIS_AWAY_MS / 2).await;
    let said = degraded(&cluster).await?;
    rest(REDIS_AWAY_MS / 2).await;
    redis.lock().await.restart().await?;
    away.to = now();
    let (back, mut left) = (Instant::now(), degraded(&cluster).await?);
    while left > 0 && back.elapsed() < RECOVERED_WITHIN {
        rest(200).await;
        left = degraded(&cluster).await?;
    }
    let (nodes, recovered) = (cluster.admins.len(), back.elapsed().as_millis());
    away.note = format!("{said} of {nodes} nodes said degraded; recovered {recovered} ms after it came back");
    println!("{}", away.note);
    faults.push(away);
    ensure!(said == nodes, "only {said} nodes said that they were degraded");
    ensure!(left == 0, "{left} nodes still say that they are degraded");
    Ok(())
}

/// Nodes whose `/metrics` say that Redis is away.
async fn degraded(cluster: &Cluster) -> anyhow::Result<usize> {
    let mut count = 0;
    let client = reqwest::Client::new();
    for admin in &cluster.admins {
        let asked = client.get(format!("http://{}/metrics", admin.address)).bearer_auth(&cluster.secrets.api).send();
        let asked = asked.await?.error_for_status()?;
        count += usize::from(asked.text().await?.lines().any(|line| line == "carillon_degraded 1"));
    }
    Ok(count)
}

/// The dead one stays away until all is over.
async fn node_killed(scene: &mut Scene, faults: &mut Vec<Fault>) -> anyhow::Result<()> {
    let (admin, held) = target::admin(&scene.cluster, &mut scene.random).await.context("no node is up")?;
    scene.target.clone_from(&admin.name);
    let mut killed = fault(Rehearsal::NodeKilled, scene, Class::Holder, String::new());
    killed.held = held;
    let exit = admin.kill("kill -9").await;
    scene.cluster.exits().extend(exit);
    killed.to = now();
    faults.push(killed);
    rest(KILLED_MS).await;
    admin.start().await
}

/// From the whole second at which the jobs are due, ms: a mark may be 200 ms ahead of it.
const KILLED_AT_MS: [i64; 8] = [-240, -190, -140, -90, -40, -10, 10, 60];
/// For the peers to take over, the node to come back, and the shards to be divided evenly again.
const EVEN_AGAIN_MS: i64 = 12_000;

/// A holder is killed at each of these moments, and comes back. The checker counts what each of them had marked and not sent.
async fn unknown_outcomes(scene: &mut Scene, faults: &mut Vec<Fault>) -> anyhow::Result<()> {
    for at in KILLED_AT_MS {
        let (admin, held) = target::admin(&scene.cluster, &mut scene.random).await.context("no node is up")?;
        scene.target.clone_from(&admin.name);
        rest((at - now()).rem_euclid(1_000)).await;
        let mut killed = fault(Rehearsal::UnknownOutcomes, scene, Class::Holder, String::new());
        killed.held = held;
        let exit = admin.kill("kill -9").await;
        scene.cluster.exits().extend(exit);
        rest(1_500).await;
        admin.start().await?;
        killed.to = now();
        faults.push(killed);
        rest(EVEN_AGAIN_MS).await;
    }
    Ok(())
}

/// To 32 shards, and back to what it was.
async fn reshard(scene: &mut Scene, faults: &mut Vec<Fault>) -> anyhow::Result<()> {
    scene.target = "shards".into();
    let admin = scene.cluster.admins.first().context("no node")?.clone();
    for shards in ["32", "8"] {
        let mut changed = fault(Rehearsal::Reshard, scene, Class::GracefulStop, format!("to {shards}"));
        let done = admin.command_of(&["shards", "set", shards]).output().await?;
        changed.to = now();
        changed.note = format!("to {shards}, {} ms", changed.to - changed.from);
        println!("{}", changed.note);
        ensure!(
            done.status.success(),
            "carillon shards set {shards}: {}",
            String::from_utf8_lossy(&done.stderr).trim()
        );
        faults.push(changed);
        rest(RESHARDED_MS).await;
    }
    Ok(())
}
