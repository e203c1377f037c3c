//! The node that waits for the answer to the request of an HTTP job is killed.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Scene;
use crate::clock::now;
use crate::load::HTTP_ANSWERED;
use crate::nemesis::rest;

/// Each of these jobs is due every 2 s, also if a fault beside this one delays it.
const SENT_WITHIN: Duration = Duration::from_secs(10);
const RESTART: i64 = 1_500;

/// kill -9 between the mark and the answer. The service has read the request, so no node may send it again.
pub async fn sender_killed(scene: &mut Scene) -> anyhow::Result<()> {
    let (cluster, job) = (scene.cluster.clone(), scene.random.below(HTTP_ANSWERED as u64) as usize);
    let Some((run, sender)) = held_request(scene, job).await else {
        scene.note = "no request came in time".into();
        return Ok(());
    };
    let is_sender = |address: &str| sender.contains(address);
    let node = cluster.admins.iter().find(|admin| is_sender(&admin.address.to_string()));
    let Some(node) = node.filter(|node| !node.is_down_on_purpose.load(Ordering::SeqCst)) else {
        scene.note = format!("another fault has ended the sender of run {run}");
        return Ok(());
    };
    (scene.target, scene.held, scene.from) = (node.name.clone(), true, now());
    scene.note = format!("run {run}");
    let exit = node.kill("kill -9").await;
    cluster.exits().extend(exit);
    rest(RESTART).await;
    node.start().await
}

/// A run whose request a service holds, and the address of the node that has sent it.
async fn held_request(scene: &Scene, job: usize) -> Option<(i64, String)> {
    let (cluster, end) = (&scene.cluster, Instant::now() + SENT_WITHIN);
    cluster.services.hold(job);
    let mut found = None;
    while found.is_none() && Instant::now() < end {
        rest(10).await;
        if let Some(run) = cluster.services.last_run(job) {
            // Another fault may keep the database away.
            found = cluster.database.sender_of(run).await.ok().flatten().map(|sender| (run, sender));
        }
    }
    cluster.services.answer(job);
    found
}
