//! Deleting what has been kept long enough: few rows at a time, by their keys, in short transactions that lock nothing that a
//! claim needs. What is left of a run is a number in the counts of its day.
//!
//! Only runs go that have ended, of fires of which every run has ended: an open part, a retry, or an outcome that may still
//! be learned (`unknown`, `lost`) keeps the whole fire. After the time for which failures are kept such an outcome
//! is not waited for any more: operators have had that long to resolve it, a retry of it would have ended, and a report that comes all
//! the same finds no run and changes nothing. Then they count as ended. A child stays until its parent's fire cannot change
//! any more, or a late result of the parent would make it a second time. The run of a node stays as long as the run of its workflow.

use foldhash::{HashMap, HashMapExt as _};

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::FromQueryResult;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Lock;
use crate::db::sql::retry;
use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::views::RetentionStore;

row_struct! {
    /// A run as the pruner sees it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PrunableRun {
        pub id: i64,
        pub job_id: i64,
        pub app_id: i64,
        pub state: RunState as Code,
        /// When it ended; of one that has not, when it was due.
        pub at: Millis,
        /// The executors among which it was routed.
        pub candidates_id: Option<i64>,
    }
}

row_struct! {
    /// A run that is about to go.
    struct LockedPrunable {
        id: i64,
        job_id: i64,
        app_id: i64,
        cause: Cause as Code,
        fire_no: i64,
        part: i32,
        attempt: i32,
        state: RunState as Code,
        scheduled_at: Millis,
    }
}

/// Those that have ended or are given up, with their whole fire, and whose parent's fire has ended; none that the reports still
/// have to count, and no node of a workflow's run that is there.
pub(crate) static LOCK_PRUNABLE: Bulk = Bulk::lock(Lock {
    columns: "r.id, r.job_id, r.app_id, r.cause, r.fire_no, r.part, r.attempt, r.state, r.scheduled_at",
    table: "run r",
    id: "r.id",
    only_if: "(r.state >= {state.final} OR r.state IN ({state.unknown}, {state.lost}) AND COALESCE(r.finished_at, r.due_at) < :before) \
            AND NOT EXISTS (SELECT 1 FROM run s WHERE s.fire_no = r.fire_no AND s.job_id = r.job_id AND s.cause = r.cause \
            AND NOT (s.state >= {state.final} OR s.state IN ({state.unknown}, {state.lost}) AND COALESCE(s.finished_at, s.due_at) < :before)) \
            AND NOT (r.state >= {state.final} AND EXISTS (SELECT 1 FROM report_open o WHERE o.run_id = r.id)) \
            AND NOT EXISTS (SELECT 1 FROM run p JOIN run q ON q.fire_no = p.fire_no AND q.job_id = p.job_id AND q.cause = p.cause \
            WHERE r.cause = {cause.child} AND p.id = r.fire_no AND q.state < {state.final}) \
            AND NOT EXISTS (SELECT 1 FROM workflow_run w WHERE r.cause = {cause.node} AND w.run_id = r.fire_no >> 10)",
});

/// Runs of one job and day that are gone, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromQueryResult)]
pub struct DayCounts {
    /// Days since 1970-01-01 of their instants, in the zone of the reports.
    pub day: i32,
    pub job_id: i64,
    pub app_id: i64,
    pub succeeded: i64,
    pub failed: i64,
    pub killed: i64,
    pub cancelled: i64,
}

const DAY_COUNTS: &str = "day, job_id, app_id, succeeded, failed, killed, cancelled";

impl RetentionStore<'_> {
    /// Runs with a greater id than this, in the order of their ids.
    pub async fn runs_above(self, id: i64, limit: u32) -> Result<Vec<PrunableRun>> {
        self.runs_from("id > ? ORDER BY id", id, limit).await
    }

    /// Runs with a smaller id than this, the greatest first.
    pub async fn runs_below(self, id: i64, limit: u32) -> Result<Vec<PrunableRun>> {
        self.runs_from("id < ? ORDER BY id DESC", id, limit).await
    }

    async fn runs_from(self, place: &str, id: i64, limit: u32) -> Result<Vec<PrunableRun>> {
        let text = format!(
            "SELECT id, job_id, app_id, state, COALESCE(finished_at, due_at) AS at, candidates_id FROM run WHERE {place} LIMIT ?"
        );
        let rows = self.query(&self.engine_reads, &text, values![id, i64::from(limit)]).await?;
        Ok(self.readable("run", &rows))
    }

    /// The last run that was due before then, by the order of the ids: found by halving, for no index has the time. Across
    /// nodes that order is not exactly the order in time, so a few runs around the border are on its other side.
    pub async fn last_run_due_before(self, at: Millis) -> Result<i64> {
        let last: Option<i64> =
            self.tuple::<Option<i64>>(&self.engine_reads, "SELECT MAX(id) FROM run", vec![]).await?.flatten();
        // Runs up to `low` are due before, runs from `high` on are not.
        let (mut low, mut high) = (0, last.unwrap_or(0) + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.run_from(middle).await? {
                Some((id, due_at)) if due_at < at => low = id.min(high - 1),
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// The first run with this id or a greater one, and when it was due.
    async fn run_from(self, id: i64) -> Result<Option<(i64, Millis)>> {
        let text = "SELECT id, due_at FROM run WHERE id >= ? ORDER BY id LIMIT 1";
        self.tuple(&self.engine_reads, text, values![id]).await
    }

    /// Deletes those of these runs that nothing needs any more, in one transaction, and answers how many. A hundred at a
    /// time are few enough. Outcomes that were not learned before `given_up_before` are not waited for.
    pub async fn prune_runs(self, ids: &[i64], given_up_before: Millis) -> Result<u64> {
        retry::on_race(|| self.try_prune_runs(ids, given_up_before)).await
    }

    async fn try_prune_runs(self, ids: &[i64], given_up_before: Millis) -> Result<u64> {
        let tx = self.begin().await?;
        let going = self.lock_going(&tx, ids, given_up_before).await?;
        if going.is_empty() {
            return Ok(0);
        }
        self.count_days(&tx, &going).await?;
        for run in going.iter().filter(|run| (run.part, run.attempt) == (0, 1)) {
            match run.cause {
                Cause::Schedule => self.note_pruned(&tx, run.job_id, "runs_to", run.fire_no).await?,
                Cause::Backfill => self.note_backfilled(&tx, run).await?,
                _ => {}
            }
        }
        let ids: Vec<i64> = going.iter().map(|run| run.id).collect();
        self.prune_input(&tx, &ids).await?;
        self.delete_by_id(&tx, "run_choice", "run_id", &ids).await?;
        self.delete_by_id(&tx, "http_log", "run_id", &ids).await?;
        self.workflows().prune(&tx, &ids).await?;
        self.maps().prune(&tx, &ids).await?;
        let done = self.delete_by_id(&tx, "run", "id", &ids).await?;
        tx.commit().await?;
        Ok(done)
    }

    /// That a run was run again is known for as long as the run is there: its repetition may go before it.
    async fn prune_input(self, tx: &Transaction, ids: &[i64]) -> Result<()> {
        let kept = "run_id IN ({ids}) AND rerun_of IS NOT NULL AND EXISTS (SELECT 1 FROM run WHERE run.id = run_input.rerun_of)";
        let text = format!("SELECT run_id, rerun_of FROM run_input WHERE {kept}");
        let reruns: Vec<(i64, i64)> = self.tuples(tx, &text, values![self.ids(ids)]).await?;
        let is_kept = |id: &i64| reruns.iter().any(|(run_id, original)| run_id == id && !ids.contains(original));
        let (kept, gone): (Vec<i64>, Vec<i64>) = ids.iter().copied().partition(is_kept);
        if !kept.is_empty() {
            let text = "UPDATE run_input SET params = NULL, address = NULL, parts = NULL, part_params = NULL, traceparent = NULL WHERE run_id IN ({ids})";
            self.execute(tx, text, values![self.ids(&kept)]).await?;
        }
        self.delete_by_id(tx, "run_input", "run_id", &gone).await?;
        // What was kept of earlier repetitions of the runs that go now.
        let text = "SELECT run_id FROM run_input WHERE rerun_of IN ({ids}) \
             AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = run_input.run_id)";
        let left: Vec<i64> = self.tuples(tx, text, values![self.ids(ids)]).await?;
        if !left.is_empty() {
            self.delete_by_id(tx, "run_input", "run_id", &left).await?;
        }
        Ok(())
    }

    /// Those that have ended or are given up, with their whole fire, and whose parent's fire has ended; locked in the order
    /// of their ids. A parent that is given up goes by the rules of its own job, and its children after it.
    async fn lock_going(self, tx: &Transaction, ids: &[i64], given_up_before: Millis) -> Result<Vec<LockedPrunable>> {
        // Locked in the order that all transactions keep.
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let rows = self.bulk_query(tx, &LOCK_PRUNABLE, &named![before: given_up_before], &ids).await?;
        Ok(self.readable("run", &rows))
    }

    async fn count_days(self, tx: &Transaction, going: &[LockedPrunable]) -> Result<()> {
        let mut days: HashMap<(i32, i64), DayCounts> = HashMap::new();
        for run in going {
            let day = self.report_day(run.scheduled_at);
            let counts = days.entry((day, run.job_id)).or_insert(DayCounts {
                day,
                job_id: run.job_id,
                app_id: run.app_id,
                ..DayCounts::default()
            });
            *counts.of(run.state) += 1;
        }
        let mut days: Vec<DayCounts> = days.into_values().collect();
        days.sort_unstable_by_key(|counts| (counts.day, counts.job_id));
        for counts in days {
            let numbers = values![counts.succeeded, counts.failed, counts.killed, counts.cancelled];
            let text = "UPDATE run_day SET succeeded = succeeded + ?, failed = failed + ?, killed = killed + ?, cancelled = cancelled + ? \
                        WHERE day = ? AND job_id = ?";
            let values = [numbers.clone(), values![counts.day, counts.job_id]].concat();
            if self.execute(tx, text, values).await? == 0 {
                let row = [values![counts.day, counts.job_id, counts.app_id], numbers].concat();
                self.insert_rows(tx, "run_day", DAY_COUNTS, vec![row]).await?;
            }
        }
        Ok(())
    }

    /// Instants up to this one may have no record any more.
    async fn note_pruned(self, tx: &Transaction, job_id: i64, column: &str, to: Millis) -> Result<()> {
        let text =
            format!("UPDATE pruned SET {column} = CASE WHEN {column} < ? THEN ? ELSE {column} END WHERE job_id = ?");
        let values = values![to, to, job_id];
        if self.execute(tx, &text, values).await? == 0 {
            let (runs, misfires) = if column == "runs_to" { (to, 0) } else { (0, to) };
            let row = values![job_id, runs, misfires];
            self.insert_rows(tx, "pruned", "job_id, runs_to, misfires_to", vec![row]).await?;
        }
        Ok(())
    }

    /// A further backfill leaves the instant out all the same.
    async fn note_backfilled(self, tx: &Transaction, run: &LockedPrunable) -> Result<()> {
        let row = values![run.job_id, run.fire_no];
        self.insert_rows(tx, "backfill_done", "job_id, at", vec![row]).await
    }

    /// Deletes a range of skipped instants.
    pub async fn prune_misfire(self, job_id: i64, from_at: Millis, to_at: Millis) -> Result<()> {
        let tx = self.begin().await?;
        self.note_pruned(&tx, job_id, "misfires_to", to_at).await?;
        let text = "DELETE FROM misfire WHERE job_id = ? AND from_at = ?";
        self.execute(&tx, text, values![job_id, from_at]).await?;
        Ok(tx.commit().await?)
    }

    /// What is left of a job's runs that are gone, day by day, the earliest first.
    pub async fn day_counts(self, job_id: i64, from_day: i32, to_day: i32) -> Result<Vec<DayCounts>> {
        let text = format!("SELECT {DAY_COUNTS} FROM run_day WHERE job_id = ? AND day >= ? AND day <= ? ORDER BY day");
        self.all(&self.engine_reads, &text, values![job_id, from_day, to_day]).await
    }
}

impl DayCounts {
    fn of(&mut self, state: RunState) -> &mut i64 {
        match state {
            RunState::Succeeded => &mut self.succeeded,
            RunState::Killed => &mut self.killed,
            RunState::Cancelled => &mut self.cancelled,
            _ => &mut self.failed,
        }
    }
}
