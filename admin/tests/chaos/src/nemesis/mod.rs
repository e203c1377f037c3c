//! Injects the faults: in a seeded order, one after the other, never more than two at once, mostly at a holder.

pub mod control;
pub mod fault_catalogue;
mod faults;
pub mod rehearsal;
mod spacing;
mod target;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::fault_catalogue::{FaultKind, FaultQueue, WHOLE_CATALOGUE_SECONDS};
use self::faults::Scene;
use self::spacing::Spacing;
use crate::clock::{Millis, now};
use crate::cluster::Cluster;
use crate::cluster::process::describe;
use crate::options::Options;
use crate::random::Random;
use crate::record::Fault;

/// Faults at the same time.
const AT_ONCE: usize = 2;

type Faults = Arc<Mutex<Vec<Fault>>>;

/// For the whole phase; answers what was done, when all of it is recovered.
pub async fn inject(cluster: &Arc<Cluster>, options: &Options, seed: u64) -> Vec<Fault> {
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let mut random = Random::new(seed);
    let mut queue = FaultQueue::new(options.db, &options.only, options.fills_the_disk());
    let faults = Faults::default();
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let spacing = Arc::<Mutex<Spacing>>::default();
    let mut running = JoinSet::new();
    let (least, most) = options.gap_ms();
    let injects_all = options.seconds >= WHOLE_CATALOGUE_SECONDS;
    let is_incomplete = |queue: &FaultQueue| injects_all && !queue.is_drawn_once();
    while Instant::now() < until || is_incomplete(&queue) {
        let started = Instant::now();
        // All that is random about a fault is drawn here: what the cluster does meanwhile must not shift the next draw.
        let (kind, own, gap) = (queue.draw(&mut random), Random::new(random.next()), random.between(least, most));
        let Ok(slot) = slots.clone().acquire_owned().await else {
            break;
        };
        let (scene, faults) = (Scene::new(cluster.clone(), own, spacing.clone()), faults.clone());
        running.spawn(async move {
            play(scene, kind, faults).await;
            drop(slot);
        });
        let next = started + Duration::from_millis(gap);
        tokio::time::sleep_until(if is_incomplete(&queue) { next } else { next.min(until) }.into()).await;
    }
    while running.join_next().await.is_some() {}
    let mut faults = std::mem::take(&mut *faults.lock().unwrap_or_else(PoisonError::into_inner));
    faults.sort_by_key(|fault| fault.from);
    faults
}

async fn play(mut scene: Scene, kind: FaultKind, faults: Faults) {
    println!("{}  {}", crate::clock::text(scene.from), kind.name);
    let done = faults::play(kind.name, &mut scene).await;
    scene.end();
    let failed = done.is_err();
    let note = match done {
        Ok(()) => scene.note,
        Err(error) => format!("{} {error:#}", scene.note),
    };
    let fault = Fault {
        name: kind.name.to_owned(),
        class: kind.class,
        target: scene.target,
        from: scene.from,
        to: now(),
        note,
        failed,
        held: scene.held,
    };
    faults.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
}

/// Starts and connects all parts of the cluster that a fault has stopped, paused or cut off.
pub async fn recover(cluster: &Arc<Cluster>) -> anyhow::Result<()> {
    cluster.recover_wires();
    for server in [&cluster.server, &cluster.redis, &cluster.other_redis] {
        let Some(server) = server else { continue };
        let mut server = server.lock().await;
        server.process.signal_all("CONT").await;
        if let Some(status) = server.process.ended() {
            println!("{}: {}", server.recipe.name, describe(Some(status)));
            server.restart().await?;
        }
    }
    for admin in &cluster.admins {
        admin.set_clock(0);
        admin.signal("CONT").await;
        let is_down = admin.process.lock().await.is_none();
        if is_down && !admin.is_alive().await {
            admin.start().await?;
        }
    }
    for recorder in &cluster.recorders {
        recorder.signal("CONT").await;
        let is_down = recorder.process.lock().await.is_none();
        if is_down {
            recorder.start().await?;
        }
    }
    Ok(())
}

/// Sleeps; a time below 0 is 0.
async fn rest(ms: Millis) {
    tokio::time::sleep(Duration::from_millis(ms.max(0).unsigned_abs())).await;
}
