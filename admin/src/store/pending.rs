//! Runs that are due and were not sent for too long: flagged in their rows, and told of once a job.

use std::collections::BTreeMap;

use carillon_scheduler::{AlarmKind, Millis};

use super::alarm::Alarm;
use super::{Result, Store, dialect, ids};

/// Runs that wait under this epoch for longer than their jobs allow. One that waits for an earlier run of its job waits as
/// its job says, and has no limit.
pub(super) const PENDING: &str = "SELECT run.id FROM run LEFT JOIN job ON job.id = run.job_id \
     WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at <= ? AND run.flagged_at IS NULL \
     AND (run.reason IS NULL OR run.reason <> 'overlap') \
     AND run.due_at + CASE WHEN job.flag_after_seconds > 0 THEN job.flag_after_seconds * 1000 ELSE ? END <= ? LIMIT 500";

/// The shortest time that a job can name, in ms.
const SHORTEST: i64 = 1_000;

/// What was flagged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flagged {
    pub runs: usize,
    /// One for each job of which nobody has heard yet.
    pub alarms: Vec<Alarm>,
}

impl Store {
    /// Flags what waits in a shard under this epoch though it was due longer ago than its job allows, `after_ms` where the
    /// job says nothing.
    pub async fn flag_pending(
        &self,
        shard: i32,
        epoch: i64,
        after_ms: i64,
        now: Millis,
    ) -> Result<Flagged> {
        let values = vec![
            shard.into(),
            epoch.into(),
            (now - after_ms.min(SHORTEST)).into(),
            after_ms.into(),
            now.into(),
        ];
        let rows = self.all(self.hot_reads(), PENDING, values).await?;
        let mut found: Vec<i64> = vec![];
        for row in &rows {
            found.push(row.try_get_by_index(0)?);
        }
        match found.is_empty() {
            true => Ok(Flagged::default()),
            false => self.flag(found, now).await,
        }
    }

    async fn flag(&self, found: Vec<i64>, now: Millis) -> Result<Flagged> {
        let mut alarm_ids = self.take_ids(&ids::ROW, found.len()).await?;
        let tx = self.begin().await?;
        let (list, value) = dialect::id_list(self.backend, &found);
        let text = format!(
            "SELECT id, job_id, due_at FROM run WHERE id IN ({list}) AND state = 0 AND flagged_at IS NULL ORDER BY id{}",
            self.for_update()
        );
        let mut flagged = vec![];
        let mut jobs: BTreeMap<i64, Vec<(i64, Millis)>> = BTreeMap::new();
        for row in self.all(&tx, &text, vec![value]).await? {
            let id: i64 = row.try_get_by_index(0)?;
            flagged.push(id);
            let runs = jobs.entry(row.try_get_by_index(1)?).or_default();
            runs.push((id, row.try_get_by_index(2)?));
        }
        if flagged.is_empty() {
            return Ok(Flagged::default());
        }
        // One by one: MariaDB would walk the whole table for a list that it has to read first.
        for id in &flagged {
            let text = "UPDATE run SET flagged_at = ? WHERE id = ?";
            self.execute(&tx, text, vec![now.into(), (*id).into()])
                .await?;
        }
        let mut alarms = vec![];
        for (job_id, runs) in jobs {
            let text =
                "SELECT 1 FROM alarm WHERE open_at > 0 AND kind = 'stuck' AND job_id = ? LIMIT 1";
            if self.one(&tx, text, vec![job_id.into()]).await?.is_none()
                && let Some(id) = alarm_ids.pop()
            {
                let alarm = of_job(job_id, &runs, now);
                alarms.push(self.raise(&tx, id, alarm, now).await?);
            }
        }
        tx.commit().await?;
        let runs = flagged.len();
        Ok(Flagged { runs, alarms })
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
