//! The executor that items are on their way at is killed.

use std::time::Duration;

use anyhow::ensure;

use super::{Scene, until};
use crate::clock::now;
use crate::executor::{Kind, items};
use crate::nemesis::rest;

/// Two jobs of three hand in items meanwhile, also if a fault beside this one delays them.
const DELIVERED_WITHIN: Duration = Duration::from_secs(20);

/// kill -9 while it executes an item of a delivery. It comes back with its journal, and says that the delivery was interrupted.
pub async fn killed(scene: &mut Scene) -> anyhow::Result<()> {
    let executor = scene.executor(Some(Kind::Sdk)).await?;
    executor.arm(items::KILL)?;
    until(DELIVERED_WITHIN, || !executor.is_armed(items::KILL)).await;
    ensure!(!executor.disarm(items::KILL), "no item was delivered to it in time");
    // It waited in good order until now.
    scene.from = now();
    executor.kill().await;
    rest(1_000).await;
    executor.start().await
}
