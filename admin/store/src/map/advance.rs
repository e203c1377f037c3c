//! Items go on: what follows from the ends of their deliveries, in one transaction that may be repeated. It locks the job, then the run
//! that has handed in the items, and computes everything under that lock.

use carillon_scheduler::run::map::{self as rules, ItemState};
use carillon_scheduler::{Millis, Outcome, RunEvent, RunReason, RunState};

use crate::db::failpoint;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::db::sql::text::cut;
use crate::error::Result;
use crate::map::rows::{DeliveryRow, MapRow};
use crate::run::advance::advancing::Advanced;
use crate::run::advance::fire_end::{COLUMNS, FireRun, PartEnd};
use crate::run::follow_up::FollowUp;
use crate::run::lock::{LockMode, LockedRun};
use crate::run::settle::finding::RunReport;
use crate::views::MapStore;

/// Bytes of the message of an item in the message of its root.
const MESSAGE_BYTES: usize = 500;

/// What has been noted about a map.
pub(crate) struct MapNotes {
    pub root_id: i64,
    pub follow_ups: Vec<FollowUp>,
}

/// What an advance works with.
struct Step {
    map: MapRow,
    advanced: Advanced,
    ids: Vec<i64>,
    executors: i64,
    now: Millis,
}

impl MapNotes {
    /// Adds an end to what has been noted about its root.
    pub fn add(all: &mut Vec<Self>, end: FollowUp, root_id: i64) {
        match all.iter_mut().find(|notes| notes.root_id == root_id) {
            Some(notes) => notes.follow_ups.push(end),
            None => all.push(Self { root_id, follow_ups: vec![end] }),
        }
    }
}

impl MapStore<'_> {
    pub(crate) async fn advance(self, notes: &MapNotes, now: Millis) -> Result<Advanced> {
        retry::on_conflict(|| self.try_advance(notes, now)).await
    }

    async fn try_advance(self, notes: &MapNotes, now: Millis) -> Result<Advanced> {
        let Some((foreseen, job_id)) = self.foresee(notes).await? else {
            return Ok(Advanced::default());
        };
        let executors = self.executors_of(notes.root_id, now).await?;
        let places = rules::window(executors) - i64::from(foreseen.in_flight) + notes.follow_ups.len() as i64;
        let rest = i64::from(foreseen.items - foreseen.released);
        // One more for the run that reads the results.
        let ids = self.take_ids(&ids::RUN, places.clamp(0, rest) as usize + 1).await?;
        let tx = self.begin().await?;
        let jobs = self.runs().lock_jobs(&tx, [job_id], LockMode::SkipLocked).await?;
        let mut roots = self.runs().lock_runs(&tx, &[notes.root_id], LockMode::SkipLocked).await?;
        if !jobs.held_up.is_empty() || !roots.held_up.is_empty() {
            let held_up = notes.follow_ups.iter().map(|end| end.run_id).collect();
            return Ok(Advanced { held_up, ..Advanced::default() });
        }
        let there = self.runs().take(&tx, notes.follow_ups.iter().copied()).await?;
        let root = roots.by_id.remove(&notes.root_id).filter(|_| !there.is_empty());
        let map = self.map_row(&tx, notes.root_id).await?;
        let (Some(root), Some(map)) = (root.filter(is_on_its_way), map) else {
            tx.commit().await?;
            return Ok(Advanced::default());
        };
        let mut step = Step { map, advanced: Advanced::default(), ids, executors, now };
        let ended = self.ended_deliveries(&tx, &root, notes).await?;
        for (delivery, end) in &ended {
            self.end_delivery(&tx, &mut step, delivery, end).await?;
        }
        self.go_on(&tx, &root, &mut step).await?;
        self.write_map(&tx, &step.map).await?;
        if !step.advanced.to_end.is_empty() || !step.advanced.to_kill.is_empty() {
            // It is looked at again until it has ended.
            self.runs().note_held(&tx, root.id, now).await?;
        }
        failpoint::hit("before_map_commit");
        tx.commit().await?;
        failpoint::hit("after_map_commit");
        Ok(step.advanced)
    }

    /// What stands there without a lock, and the job of the root.
    async fn foresee(self, notes: &MapNotes) -> Result<Option<(MapRow, i64)>> {
        let map = self.map_row(&self.write, notes.root_id).await?;
        let text = "SELECT job_id FROM run WHERE id = ?";
        let job: Option<i64> = self.tuple(&self.write, text, values![notes.root_id]).await?;
        Ok(map.zip(job))
    }

    /// How many executors of the root's app are alive.
    async fn executors_of(self, root_id: i64, now: Millis) -> Result<i64> {
        let text = "SELECT COUNT(*) FROM run JOIN app ON app.id = run.app_id JOIN executor ON executor.app = app.name \
                    WHERE run.id = ? AND executor.expires_at > ?";
        Ok(self.tuple(&self.write, text, values![root_id, now]).await?.unwrap_or_default())
    }

    /// Deliveries of which no attempt is on its way any more, and that have not been counted yet: those that are noted, or, where the root
    /// itself is, all of them.
    async fn ended_deliveries(
        self,
        tx: &Transaction,
        root: &LockedRun,
        notes: &MapNotes,
    ) -> Result<Vec<(DeliveryRow, PartEnd)>> {
        let numbers: Vec<i32> = if notes.follow_ups.iter().any(|end| end.run_id == root.id) {
            let text = "SELECT delivery FROM map_delivery WHERE run_id = ? AND ended = FALSE ORDER BY delivery";
            self.tuples(tx, text, values![root.id]).await?
        } else {
            let ids: Vec<i64> = notes.follow_ups.iter().map(|end| end.run_id).collect();
            let text = "SELECT DISTINCT part FROM run WHERE id IN ({ids}) ORDER BY part";
            self.tuples(tx, text, values![self.ids(&ids)]).await?
        };
        let numbers: Vec<i64> = numbers.into_iter().map(i64::from).collect();
        let open = self.delivery_rows(tx, root.id, &numbers).await?;
        let ends = self.ends_of_parts(tx, root, &numbers).await?;
        let end = |row: DeliveryRow| {
            let (_, end) = ends.iter().find(|(part, _)| *part == row.delivery)?;
            (!row.ended && !matches!(end, PartEnd::Open)).then(|| (row, end.clone()))
        };
        Ok(open.into_iter().filter_map(end).collect())
    }

    /// What became of parts of the fire of a root.
    async fn ends_of_parts(self, tx: &Transaction, root: &LockedRun, parts: &[i64]) -> Result<Vec<(i32, PartEnd)>> {
        let text = format!(
            "SELECT {COLUMNS} FROM run WHERE fire_no = ? AND job_id = ? AND cause = {{cause.item}} AND part IN ({{ids}}) ORDER BY part, attempt"
        );
        let runs: Vec<FireRun> = self.all(tx, &text, values![root.id, root.job_id, self.ids(parts)]).await?;
        let by_part = runs.chunk_by(|run, next| run.part == next.part);
        Ok(by_part.map(|runs| (runs[0].part, PartEnd::of(runs))).collect())
    }

    /// The items of a delivery that have no success fail, or, if it has succeeded without a word about them, succeed.
    async fn end_delivery(self, tx: &Transaction, step: &mut Step, row: &DeliveryRow, end: &PartEnd) -> Result<()> {
        let run_id = step.map.run_id;
        let text = "UPDATE map_delivery SET ended = TRUE WHERE run_id = ? AND delivery = ?";
        self.execute(tx, text, values![run_id, row.delivery]).await?;
        let of_range = "WHERE run_id = ? AND item >= ? AND item < ?";
        let range = || values![run_id, row.first_item, row.end()];
        let (state, why) = match end {
            PartEnd::Succeeded { .. } => (ItemState::Succeeded, None),
            PartEnd::Open => return Ok(()),
            PartEnd::Failed { why } => (ItemState::Failed, Some(cut(why, MESSAGE_BYTES))),
        };
        let text = format!("UPDATE map_item SET state = ?, result = ? {of_range} AND state = ?");
        let values = [values![state.code(), why], range(), values![ItemState::Waiting.code()]].concat();
        self.execute(tx, &text, values).await?;
        let text = format!("UPDATE map_item SET state = ? {of_range} AND state = ?");
        let values = [values![ItemState::Failed.code()], range(), values![ItemState::Retrying.code()]].concat();
        self.execute(tx, &text, values).await?;
        let text = format!("SELECT COUNT(*) FROM map_item {of_range} AND state = ?");
        let values = [range(), values![ItemState::Failed.code()]].concat();
        let failed: i64 = self.tuple(tx, &text, values).await?.unwrap_or_default();
        step.map.in_flight -= 1;
        step.map.failed += failed as i32;
        Ok(())
    }

    async fn go_on(self, tx: &Transaction, root: &LockedRun, step: &mut Step) -> Result<()> {
        if root.kill_asked {
            step.advanced.to_kill = self.open_runs(tx, root).await?;
            if step.advanced.to_kill.is_empty() && step.map.in_flight == 0 && !self.is_reducing(tx, root).await? {
                step.advanced.to_end.push(RunReport::found(
                    root.id,
                    RunEvent::Reported(Outcome::Killed),
                    Some(RunReason::Operator),
                    None,
                ));
            }
            return Ok(());
        }
        let new = self.release(tx, &mut step.map, &mut step.ids, (step.executors, step.now)).await?;
        if new > 0 {
            step.advanced.to_scan.push(root.shard);
        }
        if step.map.released < step.map.items || step.map.in_flight > 0 {
            return Ok(());
        }
        if !step.map.reduces {
            return self.end_without_reduce(tx, root.id, step).await;
        }
        match self.ends_of_parts(tx, root, &[0]).await?.pop() {
            None => {
                if let Some(id) = step.ids.pop() {
                    self.insert_item_runs(tx, root.id, &[(id, 0)], step.now).await?;
                    step.map.reduce_run_id = Some(id);
                    step.advanced.to_scan.push(root.shard);
                }
            }
            Some((_, PartEnd::Open)) => {}
            Some((_, PartEnd::Succeeded { result })) => {
                step.advanced.to_end.push(RunReport::found(
                    root.id,
                    RunEvent::Reported(Outcome::Succeeded),
                    None,
                    result,
                ));
            }
            Some((_, PartEnd::Failed { why })) => {
                step.advanced.to_end.push(failure(root.id, format!("reduce failed: {why}")));
            }
        }
        Ok(())
    }

    async fn end_without_reduce(self, tx: &Transaction, root_id: i64, step: &mut Step) -> Result<()> {
        let MapRow { items, failed, .. } = step.map;
        let end = if failed == 0 {
            // What its handler has said.
            let text = "SELECT result_msg FROM run WHERE id = ?";
            let said = self.tuple::<Option<String>>(tx, text, values![root_id]).await?.flatten();
            RunReport::found(root_id, RunEvent::Reported(Outcome::Succeeded), None, said)
        } else {
            let text = "SELECT item, result FROM map_item WHERE run_id = ? AND state = ? ORDER BY item LIMIT 1";
            let first: Option<(i32, Option<String>)> =
                self.tuple(tx, text, values![root_id, ItemState::Failed.code()]).await?;
            let first =
                first.map(|(item, why)| format!("; item {item}: {}", cut(&why.unwrap_or_default(), MESSAGE_BYTES)));
            failure(root_id, format!("{failed} of {items} items failed{}", first.unwrap_or_default()))
        };
        step.advanced.to_end.push(end);
        Ok(())
    }

    /// Runs that are on their way, and whose end has not been asked for.
    async fn open_runs(self, tx: &Transaction, root: &LockedRun) -> Result<Vec<i64>> {
        let text = "SELECT id FROM run WHERE fire_no = ? AND job_id = ? AND cause = {cause.item} AND state IN ({state.pending}) \
                    AND kill_asked_at IS NULL ORDER BY id";
        self.tuples(tx, text, values![root.id, root.job_id]).await
    }

    async fn is_reducing(self, tx: &Transaction, root: &LockedRun) -> Result<bool> {
        let ends = self.ends_of_parts(tx, root, &[0]).await?;
        Ok(ends.iter().any(|(_, end)| matches!(end, PartEnd::Open)))
    }

    async fn write_map(self, tx: &Transaction, map: &MapRow) -> Result<()> {
        let MapRow { run_id, chunk, released, deliveries, in_flight, failed, reduce_run_id, .. } = *map;
        let text = "UPDATE map_run SET chunk = ?, released = ?, deliveries = ?, in_flight = ?, failed = ?, reduce_run_id = ? \
                    WHERE run_id = ?";
        let values = values![chunk, released, deliveries, in_flight, failed, reduce_run_id, run_id];
        self.execute(tx, text, values).await.map(drop)
    }
}

fn is_on_its_way(root: &LockedRun) -> bool {
    root.state == RunState::Running && root.is_held()
}

/// The end of the root, which is settled as the end of any other run.
fn failure(root_id: i64, message: String) -> RunReport {
    RunReport::found(root_id, RunEvent::Reported(Outcome::Failed), Some(RunReason::Items), Some(message))
}
