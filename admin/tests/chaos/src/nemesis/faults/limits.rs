//! The node that has sent a run with a slot is killed while the run is at work.

use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::Scene;
use super::admin::RESTART;
use crate::clock::now;
use crate::nemesis::rest;

/// Runs with a limit begin every few seconds, also if a fault beside this one delays them.
const AT_WORK_WITHIN: Duration = Duration::from_secs(20);

/// kill -9 of the holder of the run's shard: the slot stays with the run until another node has found out what became of it.
pub async fn holder_killed(scene: &mut Scene) -> anyhow::Result<()> {
    let end = Instant::now() + AT_WORK_WITHIN;
    let address = loop {
        match scene.cluster.database.holder_of_a_slot().await {
            Ok(Some(address)) => break address,
            _ if Instant::now() > end => anyhow::bail!("no run with a limit was at work in time"),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let admin = scene.cluster.admins.iter().find(|admin| address.contains(&admin.address.to_string()));
    let admin = admin.cloned().context("the holder is none of the nodes")?;
    scene.target.clone_from(&admin.name);
    scene.held = true;
    // It waited in good order until now.
    scene.from = now();
    let exit = admin.kill("kill -9").await;
    scene.cluster.exits().extend(exit);
    rest(RESTART).await;
    admin.start().await
}
