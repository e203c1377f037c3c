//! Deals the faults: a seeded deck, one card after the other, never more than two at once, mostly at a holder.

mod aim;
mod cards;
pub mod control;
pub mod deck;
pub mod drill;
mod spacing;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::cards::Scene;
use self::deck::{Card, Deck, WHOLE_DECK_SECONDS};
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

/// For the whole phase; answers what was done, when all of it is healed.
pub async fn strike(cluster: &Arc<Cluster>, options: &Options, seed: u64) -> Vec<Fault> {
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let mut random = Random::new(seed);
    let mut deck = Deck::new(options.db, &options.only, options.fills_the_disk());
    let faults = Faults::default();
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let spacing = Arc::<Mutex<Spacing>>::default();
    let mut running = JoinSet::new();
    let (least, most) = options.gap_ms();
    let deals_all = options.seconds >= WHOLE_DECK_SECONDS;
    let is_incomplete = |deck: &Deck| deals_all && !deck.is_dealt_once();
    while Instant::now() < until || is_incomplete(&deck) {
        let started = Instant::now();
        // All that is random about a card is drawn here: what the cluster does meanwhile must not shift the next draw.
        let (card, own, gap) = (deck.draw(&mut random), Random::new(random.next()), random.between(least, most));
        let Ok(slot) = slots.clone().acquire_owned().await else {
            break;
        };
        let (scene, faults) = (Scene::new(cluster.clone(), own, spacing.clone()), faults.clone());
        running.spawn(async move {
            play(scene, card, faults).await;
            drop(slot);
        });
        let next = started + Duration::from_millis(gap);
        tokio::time::sleep_until(if is_incomplete(&deck) { next } else { next.min(until) }.into()).await;
    }
    while running.join_next().await.is_some() {}
    let mut faults = std::mem::take(&mut *faults.lock().unwrap_or_else(PoisonError::into_inner));
    faults.sort_by_key(|fault| fault.from);
    faults
}

async fn play(mut scene: Scene, card: Card, faults: Faults) {
    println!("{}  {}", crate::clock::text(scene.from), card.name);
    let done = cards::play(card.name, &mut scene).await;
    scene.end();
    let failed = done.is_err();
    let note = match done {
        Ok(()) => scene.note,
        Err(error) => format!("{} {error:#}", scene.note),
    };
    let fault = Fault {
        card: card.name.to_owned(),
        class: card.class,
        target: scene.target,
        from: scene.from,
        to: now(),
        note,
        failed,
        held: scene.held,
    };
    faults.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
}

/// Everything runs and is connected again, whatever a card has left behind.
pub async fn heal(cluster: &Arc<Cluster>) -> anyhow::Result<()> {
    cluster.heal_wires();
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
