//! The last parents of a join end at several nodes at once.

use super::{Scene, database};
use crate::nemesis::rest;
use crate::proxy::{Mode, Wire};

/// Executors without an answer in this time turn to another node, so that not all results are at one.
const HELD_BACK_MS: i64 = 4_000;

/// What executors report is held back, and reaches all nodes at the same time, each statement of which takes 200 ms more.
pub async fn last_parents(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "database".into();
    let calls: Vec<Wire> = scene.cluster.admins.iter().map(|admin| admin.wire.clone()).collect();
    calls.iter().for_each(|wire| wire.set(Mode { silent: true, ..Mode::default() }));
    rest(HELD_BACK_MS).await;
    let statements = database::slow_statements(scene);
    calls.iter().for_each(Wire::recover);
    rest(4_000).await;
    statements.iter().for_each(Wire::recover);
    Ok(())
}
