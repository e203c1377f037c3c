//! Nodes: killed, paused, stopped in order, ended at a line of their program, or given a wrong clock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::bail;

use super::{Scene, until};
use crate::cluster::admin::Admin;
use crate::nemesis::rest;

/// What a supervisor waits before it starts a node that has ended.
const RESTART: i64 = 1_500;
/// For a failpoint's line to be reached: each is on the way of every run.
const REACHED_WITHIN: Duration = Duration::from_secs(5);

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    let options = &scene.cluster.options;
    let (ttl, longest) = (options.ttl_ms, options.longest_pause_ms());
    if name == "admin_rolling" {
        return rolling(scene).await;
    }
    let admin = scene.aim().await?;
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
        "trust_off_stop" => {
            // Otherwise the node would see that its lease is over, and would not send the write that the fence must refuse.
            admin.arm("trust_off");
            let done = pause(&admin, longest).await;
            rest(1_500).await;
            admin.disarm("trust_off");
            done
        }
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
    if !until(REACHED_WITHIN, || !admin.is_armed(failpoint)).await {
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
