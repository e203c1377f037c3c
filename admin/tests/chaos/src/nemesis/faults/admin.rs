//! Nodes: killed, paused, stopped in order, ended at a line of their program, or given a wrong clock.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::bail;

use super::{Scene, until};
use crate::cluster::admin::Admin;
use crate::cluster::redis::tell;
use crate::nemesis::rest;

/// What a supervisor waits before it starts a node that has ended.
pub(super) const RESTART: i64 = 1_500;
/// For a failpoint's line to be reached: each is on the way of every run.
const REACHED_WITHIN: Duration = Duration::from_secs(5);
/// The same of one that only workflows, or only runs with items, pass.
const REACHED_BY_WORKFLOWS: Duration = Duration::from_secs(12);
const REACHED_BY_MAPS: Duration = Duration::from_secs(16);

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    let options = &scene.cluster.options;
    let (ttl, longest) = (options.ttl_ms, options.longest_pause_ms());
    if name == "admin_rolling" {
        return rolling(scene).await;
    }
    let admin = scene.target_node().await?;
    match name {
        "admin_kill" => {
            let exit = admin.kill("kill -9").await;
            scene.cluster.exits().extend(exit);
            rest(RESTART).await;
            admin.start().await
        }
        "admin_stop_1s" => pause(&admin, 1_000).await,
        "admin_stop_below_ttl" => pause(&admin, ttl * 9 / 10).await,
        "admin_stop_above_ttl" => pause(&admin, longest).await,
        "lease_stolen" => steal(scene, &admin).await,
        "admin_term" => term(scene, &admin).await,
        "admin_clock" => {
            let seconds = if scene.random.percent(50) { 60 } else { -60 };
            scene.note = format!("{seconds:+} s");
            admin.set_clock(seconds);
            rest(5_000).await;
            admin.set_clock(0);
            Ok(())
        }
        _ => abort(scene, &admin, name.trim_start_matches("abort_")).await,
    }
}

async fn pause(admin: &Arc<Admin>, ms: i64) -> anyhow::Result<()> {
    admin.signal("STOP").await;
    rest(ms).await;
    admin.signal("CONT").await;
    Ok(())
}

/// While it is paused its shards go to another node. It wakes before it doubts its lease, so it sends the writes that only
/// the fence refuses; after a longer pause it would see by itself that its lease is over.
async fn steal(scene: &mut Scene, admin: &Arc<Admin>) -> anyhow::Result<()> {
    admin.signal("STOP").await;
    // A lease is trusted for nine tenths of its time, and was renewed a moment ago. The paused process may have locked what is
    // changed here.
    let within = Duration::from_millis(scene.cluster.options.ttl_ms.unsigned_abs() / 2);
    let stolen = tokio::time::timeout(within, give_away(scene, admin)).await;
    admin.signal("CONT").await;
    scene.note = match stolen {
        Ok(shards) => format!("{} shards", shards?),
        Err(_) => "no other node took them in time".into(),
    };
    Ok(())
}

/// Answers how many shards it held, as soon as all of them are held by others.
async fn give_away(scene: &Scene, admin: &Arc<Admin>) -> anyhow::Result<usize> {
    let (database, url) = (&scene.cluster.database, format!("http://{}/", admin.address));
    let holders = database.holders().await?;
    let shards: Vec<i32> = holders.iter().filter(|(_, holder)| *holder == url).map(|(shard, _)| *shard).collect();
    let moved =
        "UPDATE shard_lease SET epoch = epoch + 1, expires_at = 0 WHERE owner IN (SELECT id FROM node WHERE address =";
    database.execute(&format!("{moved} '{url}')")).await?;
    // Or it keeps its share in the eyes of the others, and its locks.
    database.execute(&format!("UPDATE node SET address = '' WHERE address = '{url}'")).await?;
    if let Some(redis) = &scene.cluster.redis {
        tell(&*redis.lock().await, &["FLUSHALL"]).await?;
    }
    loop {
        let held: HashSet<i32> = database.holders().await?.into_iter().map(|(shard, _)| shard).collect();
        if shards.iter().all(|shard| held.contains(shard)) {
            return Ok(shards.len());
        }
        rest(20).await;
    }
}

async fn term(scene: &Scene, admin: &Arc<Admin>) -> anyhow::Result<()> {
    let exit = admin.terminate("SIGTERM").await;
    scene.cluster.exits().extend(exit);
    rest(500).await;
    admin.start().await
}

async fn rolling(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "all".into();
    scene.held = true;
    for admin in scene.cluster.admins.clone() {
        if !admin.is_down_on_purpose.load(Ordering::SeqCst) {
            term(scene, &admin).await?;
            // A rolling restart goes on when the new node has its shards.
            rest(2_000).await;
        }
    }
    Ok(())
}

/// Arms a failpoint; the supervisor starts the node again.
async fn abort(scene: &mut Scene, admin: &Arc<Admin>, failpoint: &str) -> anyhow::Result<()> {
    admin.arm(failpoint);
    let within = match failpoint {
        _ if failpoint.contains("map") => REACHED_BY_MAPS,
        _ if failpoint.contains("hold") || failpoint.contains("workflow") => REACHED_BY_WORKFLOWS,
        _ => REACHED_WITHIN,
    };
    if !until(within, || !admin.is_armed(failpoint)).await {
        admin.disarm(failpoint);
        scene.note = "was not reached".into();
        return Ok(());
    }
    let noticed = until(Duration::from_secs(5), || admin.is_down_on_purpose.load(Ordering::SeqCst));
    if !noticed.await {
        bail!("it was reached, and the node goes on");
    }
    let back = until(Duration::from_secs(60), || !admin.is_down_on_purpose.load(Ordering::SeqCst));
    if !back.await {
        bail!("it did not come back");
    }
    Ok(())
}
