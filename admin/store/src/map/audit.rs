//! What must never be in the records of items, for `carillon audit`.

use crate::error::Result;
use crate::views::MapStore;

/// A run that has handed in items and cannot go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalledMap {
    pub run_id: i64,
    pub job_id: i64,
}

/// A transaction that ends the last open delivery leaves a note, and one that takes the note makes the next runs or leaves one: what has
/// neither in one look has stalled.
const STALLED: &str = "SELECT run.id, run.job_id FROM map_run m JOIN run ON run.id = m.run_id \
     WHERE run.state = {state.running} AND run.state < {state.final} AND (run.follow & {follow.held_map}) = {follow.held_map} \
     AND NOT EXISTS (SELECT 1 FROM run AS member WHERE member.fire_no = run.id AND member.job_id = run.job_id \
     AND member.cause = {cause.item} AND member.state IN ({state.pending})) \
     AND NOT EXISTS (SELECT 1 FROM follow_up f JOIN run AS noted ON noted.id = f.run_id \
     WHERE noted.id = run.id OR (noted.cause = {cause.item} AND noted.fire_no = run.id)) ORDER BY run.id";

impl MapStore<'_> {
    /// Runs with items of which nothing is on its way now, and nothing is to follow.
    pub async fn stalled(self) -> Result<Vec<StalledMap>> {
        let stalled: Vec<(i64, i64)> = self.tuples(&self.read, STALLED, vec![]).await?;
        Ok(stalled.into_iter().map(|(run_id, job_id)| StalledMap { run_id, job_id }).collect())
    }
}
