//! Loops: their executor is killed or paused, a grant is held back, renewals are cut. Each lasts for two leases, if it can.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use reqwest::Method;
use serde_json::json;

use super::{Scene, until};
use crate::clock::now;
use crate::cluster::recorder::Recorder;
use crate::executor::Kind;
use crate::executor::loops::RENEWAL_CUT;
use crate::load::Api;
use crate::load::api::Reply;
use crate::load::loops::LEASE_MS;
use crate::nemesis::rest;
use crate::proxy::{Trap, Trick};

const TWO_LEASES_MS: i64 = 2 * LEASE_MS;
/// The beginning of a grant; that of a stop has another path.
const GRANT: &str = "POST /loop ";
/// Of a job that was changed, also if a fault beside this one delays it.
const GRANTED_WITHIN: Duration = Duration::from_secs(20);
/// An executor that another fault has paused may answer later.
const DELIVERED_WITHIN: Duration = Duration::from_millis(3 * LEASE_MS.unsigned_abs());
const CHANGED_WITHIN: Duration = Duration::from_secs(30);

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    match name {
        "loop_executor_killed" => killed(scene).await,
        "loop_executor_stopped" => stopped(scene).await,
        "loop_grant_delayed" => grant_delayed(scene).await,
        _ => renewal_cut(scene).await,
    }
}

/// kill -9. It comes back at once, while its leases last and another start of it must not have its loops; or when others have them.
async fn killed(scene: &mut Scene) -> anyhow::Result<()> {
    let away = if scene.random.percent(50) { 500 } else { LEASE_MS + 2_000 };
    let executor = scene.executor_of_loops().await?;
    scene.note = format!("back after {away} ms");
    executor.kill().await;
    rest(away).await;
    executor.start().await
}

/// Others have its loops when it goes on, and it does not know.
async fn stopped(scene: &mut Scene) -> anyhow::Result<()> {
    let executor = scene.executor_of_loops().await?;
    executor.signal("STOP").await;
    rest(TWO_LEASES_MS).await;
    executor.signal("CONT").await;
    Ok(())
}

/// The grant is on its way while its lease ends, and arrives when another one was made.
async fn grant_delayed(scene: &mut Scene) -> anyhow::Result<()> {
    // No executor is its target: each may have another fault beside it.
    scene.target = "loops".into();
    let cluster = scene.cluster.clone();
    let job = scene.random.pick(&cluster.observer.jobs()).copied().context("no loop was called yet")?;
    let executors = cluster.recorders.iter().filter(|it| it.kind == Kind::Sdk);
    let executors: Vec<(Arc<Recorder>, u64)> = executors.map(|it| (it.clone(), it.wire.held())).collect();
    let delivered = || executors.iter().map(|(executor, _)| executor.wire.delivered_late()).sum::<u64>();
    let before = delivered();
    for (executor, _) in &executors {
        let hold = Trick::Hold(Duration::from_millis(TWO_LEASES_MS.unsigned_abs()));
        executor.wire.set_trap(Trap::new(GRANT, hold, 1));
    }
    let held_at = || executors.iter().find(|(executor, before)| executor.wire.held() > *before);
    let changed = change(scene, job).await;
    until(GRANTED_WITHIN, || held_at().is_some()).await;
    executors.iter().for_each(|(executor, _)| executor.wire.clear_traps(GRANT));
    changed?;
    let Some((held_at, _)) = held_at() else {
        scene.note = format!("no grant of job {job} was sent in time");
        return Ok(());
    };
    until(DELIVERED_WITHIN, || delivered() > before).await;
    scene.note = format!("job {job}, at {}, {} delivered late", held_at.name, delivered() - before);
    Ok(())
}

/// Changes the description of a job, which ends the grant of its loop. The fault begins with the request that does it.
async fn change(scene: &mut Scene, job: i64) -> anyhow::Result<()> {
    let roots = scene.cluster.admins.iter().map(|admin| admin.wire.url()).collect();
    let api = Api::new(roots, &scene.cluster.secrets.api, Duration::from_secs(3));
    let (path, end) = (format!("api/v1/jobs/{job}"), Instant::now() + CHANGED_WITHIN);
    for node in 0.. {
        if let Reply::Ok(mut draft) = api.ask(node, Method::GET, &path, None).await {
            draft["description"] = json!(format!("changed at {}", now()));
            if let Some(draft) = draft.as_object_mut() {
                draft.remove("revision");
            }
            scene.from = now();
            if let Reply::Ok(_) = api.ask(node, Method::PUT, &path, Some(&draft)).await {
                return Ok(());
            }
        }
        ensure!(Instant::now() < end, "job {job} could not be changed in time");
        rest(200).await;
    }
    Ok(())
}

/// Its leases end although it goes on and is there.
async fn renewal_cut(scene: &mut Scene) -> anyhow::Result<()> {
    let executor = scene.executor_of_loops().await?;
    executor.arm(RENEWAL_CUT)?;
    rest(TWO_LEASES_MS).await;
    ensure!(executor.disarm(RENEWAL_CUT), "renewals were not cut all the time");
    Ok(())
}
