//! Runs that are due and were not sent for too long: flagged in their rows, and told of once a job.

use std::collections::BTreeMap;

use carillon_scheduler::{AlarmKind, Millis};
use sea_orm::{DbBackend, QueryResult};

use crate::alarm::alarms::Alarm;
use crate::db::dialect;
use crate::db::dialect::Text;
use crate::db::ids;
use crate::db::row::Columns;
use crate::{Result, Store, Transaction};

/// Runs that wait under this epoch for longer than their jobs allow. One that waits for an earlier run of its job waits as
/// its job says, and has no limit.
pub(crate) const PENDING: &str = "SELECT run.id, run.due_at, job.flag_after_seconds FROM run LEFT JOIN job ON job.id = run.job_id \
     WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at >= ? AND run.due_at <= ? AND run.flagged_at IS NULL \
     AND (run.reason IS NULL OR run.reason <> 'overlap') \
     AND run.due_at + CASE WHEN job.flag_after_seconds > 0 THEN job.flag_after_seconds * 1000 ELSE ? END <= ? \
     ORDER BY run.due_at, run.id LIMIT 1000";

/// The one of them that was due first.
pub(crate) const OLDEST: &str = "SELECT due_at FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND flagged_at IS NULL \
     AND (reason IS NULL OR reason <> 'overlap') ORDER BY due_at LIMIT 1";

/// By key: MariaDB would walk the whole table for `… WHERE id IN (SELECT …)`, and wait for every lock on its way.
pub(crate) const LOCK_PENDING: Text = Text {
    sqlite: "SELECT id, job_id, due_at FROM run WHERE id IN (SELECT u.value FROM json_each(?) AS u) AND +state = 0 AND flagged_at IS NULL ORDER BY id",
    postgres: "SELECT id, job_id, due_at FROM run WHERE id IN (SELECT unnest(?::bigint[])) AND state + 0 = 0 AND flagged_at IS NULL ORDER BY id FOR UPDATE",
    mysql: "SELECT run.id, run.job_id, run.due_at FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id WHERE run.state = 0 AND run.flagged_at IS NULL ORDER BY run.id FOR UPDATE",
};

pub(crate) const FLAG: Text = Text {
    sqlite: "UPDATE run SET flagged_at = ? WHERE id IN (SELECT u.value FROM json_each(?) AS u)",
    postgres: "UPDATE run SET flagged_at = ? WHERE id IN (SELECT unnest(?::bigint[]))",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.flagged_at = ?",
};

/// The shortest time that a job can name, in ms.
const SHORTEST: i64 = 1_000;

/// Flagged in one transaction: a mark of one of them waits no longer than for these.
pub const PAGE: usize = 100;

/// A run that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    pub run_id: i64,
    /// From then on it waits for too long.
    pub late_at: Millis,
}

/// What was flagged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flagged {
    pub runs: usize,
    /// One for each job of which nobody has heard yet.
    pub alarms: Vec<Alarm>,
}

/// Runs by job: id, and when it was due.
type ByJob = BTreeMap<i64, Vec<(i64, Millis)>>;

impl Store {
    /// The first thousand runs that wait in a shard under this epoch and will have waited for too long at `until`: for longer
    /// than their job allows, or than `after_ms` where it says nothing. The one that was due first is first. What was due
    /// before `from` is left out: PostgreSQL cannot forget the places of runs that were sent while an old snapshot is open,
    /// and would walk over all of them.
    pub async fn late(&self, shard: i32, epoch: i64, after_ms: i64, from: Millis, until: Millis) -> Result<Vec<Late>> {
        let values = vec![
            shard.into(),
            epoch.into(),
            from.into(),
            (until - after_ms.min(SHORTEST)).into(),
            after_ms.into(),
            until.into(),
        ];
        let rows = self.all(self.hot_reads(), PENDING, values).await?;
        let late = |row: &QueryResult| {
            let mut columns = Columns::of(row);
            let (run_id, due_at): (i64, Millis) = (columns.next()?, columns.next()?);
            let of_job = columns.next::<Option<i32>>()?.filter(|after| *after > 0);
            let after = of_job.map_or(after_ms, |seconds| i64::from(seconds) * 1000);
            let late_at = due_at + after;
            Ok(Late { run_id, late_at })
        };
        rows.iter().map(late).collect()
    }

    /// When the first run was due that waits in a shard under this epoch and is not flagged.
    pub async fn oldest_waiting(&self, shard: i32, epoch: i64) -> Result<Option<Millis>> {
        let values = vec![shard.into(), epoch.into()];
        let row = self.one(self.hot_reads(), OLDEST, values).await?;
        Ok(row.map(|row| row.try_get_by_index(0)).transpose()?)
    }

    /// Flags those of these runs that still wait, at most [`PAGE`] of them.
    pub async fn flag(&self, run_ids: &[i64], now: Millis) -> Result<Flagged> {
        // Locked in the order that everybody keeps.
        let mut run_ids: Vec<i64> = run_ids.iter().copied().take(PAGE).collect();
        run_ids.sort_unstable();
        let alarm_ids = self.take_ids(&ids::ROW, run_ids.len()).await?;
        let tx = self.begin().await?;
        let (flagged, mut jobs) = self.lock_pending(&tx, &run_ids).await?;
        if flagged.is_empty() {
            return Ok(Flagged::default());
        }
        let (_, list) = dialect::id_list(self.backend, &flagged);
        let values = match self.backend {
            DbBackend::MySql => vec![list, now.into()],
            _ => vec![now.into(), list],
        };
        self.execute(&tx, FLAG.of(self.backend), values).await?;
        for told in self.told_of(&tx, &jobs).await? {
            jobs.remove(&told);
        }
        let alarms = alarm_ids.into_iter().zip(&jobs).map(|(id, (job_id, runs))| (id, of_job(*job_id, runs, now)));
        let alarms = self.raise_all(&tx, alarms.collect(), now).await?;
        tx.commit().await?;
        let runs = flagged.len();
        Ok(Flagged { runs, alarms })
    }

    /// `run_ids` must ascend.
    async fn lock_pending(&self, tx: &Transaction, run_ids: &[i64]) -> Result<(Vec<i64>, ByJob)> {
        let (_, list) = dialect::id_list(self.backend, run_ids);
        let text = LOCK_PENDING.of(self.backend);
        let (mut locked, mut jobs) = (vec![], ByJob::new());
        for row in self.all(tx, text, vec![list]).await? {
            let id: i64 = row.try_get_by_index(0)?;
            locked.push(id);
            let runs = jobs.entry(row.try_get_by_index(1)?).or_default();
            runs.push((id, row.try_get_by_index(2)?));
        }
        Ok((locked, jobs))
    }

    /// Jobs of which an alarm is open.
    async fn told_of(&self, tx: &Transaction, jobs: &ByJob) -> Result<Vec<i64>> {
        let job_ids: Vec<i64> = jobs.keys().copied().collect();
        let (list, value) = dialect::id_list(self.backend, &job_ids);
        let text =
            format!("SELECT DISTINCT job_id FROM alarm WHERE open_at > 0 AND kind = 'stuck' AND job_id IN ({list})");
        self.ids_of(tx, &text, vec![value]).await
    }
}

fn of_job(job_id: i64, runs: &[(i64, Millis)], now: Millis) -> Alarm {
    let (first, due_at) = runs[0];
    let seconds = (now - due_at) / 1000;
    let others = match runs.len() {
        1 => String::new(),
        count => format!(", and {} more of its job", count - 1),
    };
    Alarm {
        kind: AlarmKind::Stuck,
        job_id: Some(job_id),
        run_id: Some(first),
        text: format!("run {first} was due {seconds} s ago and has not been sent{others}"),
    }
}
