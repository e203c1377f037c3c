//! The next runs of a backfill.

use std::collections::{HashMap, HashSet};

use carillon_scheduler::Millis;
use sea_orm::{ConnectionTrait, Value};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::db::ids;
use crate::db::row::Columns;
use crate::{Result, Store, Transaction};

/// Instants that are looked at in one transaction.
const PAGE: usize = 500;

/// A backfill that has not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    pub id: i64,
    pub job_id: i64,
    pub shard: i32,
    pub max_concurrent: i32,
}

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// The new runs.
    pub runs: Vec<i64>,
    /// Nothing is left to do.
    pub finished: bool,
    /// Nothing of it could go on now: its job has as many open runs as it may.
    pub full: bool,
}

/// The open runs of backfills, by job; by the index of open runs.
pub(crate) const OPEN_OF_BACKFILLS: Text = Text {
    sqlite: "SELECT run.job_id, COUNT(*) FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value \
             WHERE run.state IN (0, 1, 2) AND run.state < 9 AND run.cause = 4 GROUP BY run.job_id",
    postgres: "SELECT run.job_id, COUNT(*) FROM run WHERE run.shard = ANY(?::bigint[]) \
               AND run.state IN (0, 1, 2) AND run.state < 9 AND run.cause = 4 GROUP BY run.job_id",
    mysql: "SELECT run.job_id, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (shard INT PATH '$')) AS u \
            STRAIGHT_JOIN JSON_TABLE('[0,1,2]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s \
            STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state \
            WHERE run.cause = 4 GROUP BY run.job_id",
};

const RUN: &str = "id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, parent";

impl Store {
    /// What is left to do in these shards; what belongs to a job that has been deleted is in shard 0.
    pub async fn open_backfills(&self) -> Result<Vec<Open>> {
        let text = "SELECT b.id, b.job_id, COALESCE(j.shard, 0), b.max_concurrent FROM backfill b \
                    LEFT JOIN job j ON j.id = b.job_id WHERE b.finished_at IS NULL ORDER BY b.id";
        let rows = self.all(self.hot_reads(), text, vec![]).await?;
        let read = |row| {
            let mut columns = Columns::of(row);
            Ok(Open {
                id: columns.next()?,
                job_id: columns.next()?,
                shard: columns.next()?,
                max_concurrent: columns.next()?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// How many runs of backfills are open in these shards, by job.
    pub async fn open_runs_of_backfills(&self, shards: &[i64]) -> Result<HashMap<i64, i64>> {
        let (_, list) = dialect::id_list(self.backend, shards);
        let text = OPEN_OF_BACKFILLS.of(self.backend);
        let rows = self.all(self.hot_reads(), text, vec![list]).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }

    /// Makes the runs that may be open beside those that are, in the order of their instants.
    pub async fn release_backfill(&self, open: &Open, now: Millis) -> Result<Released> {
        // Most looks find no room: they must cost neither ids nor a write.
        let most = open.max_concurrent.unsigned_abs() as usize;
        let count = self.open_count(self.hot_reads(), open.shard, open.job_id);
        let room = most.saturating_sub(count.await?);
        if room == 0 {
            return Ok(Released { full: true, ..Released::default() });
        }
        let ids = self.take_ids(&ids::RUN, room).await?;
        let mut tries = 0;
        loop {
            match self.try_release(open, &ids, now).await {
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                other => return other,
            }
        }
    }

    async fn try_release(&self, open: &Open, ids: &[i64], now: Millis) -> Result<Released> {
        let tx = self.begin().await?;
        // The job's row keeps two backfills of one job apart.
        let text = format!("SELECT app_id, shard, parent FROM job WHERE id = ?{}", self.for_update());
        let job = self.one(&tx, &text, vec![open.job_id.into()]).await?;
        let text = format!("SELECT passed_at FROM backfill WHERE id = ? AND finished_at IS NULL{}", self.for_update());
        let passed = self.one(&tx, &text, vec![open.id.into()]).await?;
        let (Some(job), Some(passed)) = (job, passed) else {
            self.finish(&tx, open.id, true, now).await?;
            tx.commit().await?;
            return Ok(Released { finished: true, ..Released::default() });
        };
        let place = Place {
            app_id: job.try_get_by_index(0)?,
            shard: job.try_get_by_index(1)?,
            parent: job.try_get_by_index(2)?,
        };
        let most = open.max_concurrent.unsigned_abs() as usize;
        let count = self.open_count(&tx, place.shard, open.job_id).await?;
        let room = most.saturating_sub(count).min(ids.len());
        let page = self.instants_after(&tx, open.id, passed.try_get_by_index(0)?).await?;
        let made: HashSet<Millis> = self.backfilled_in(&tx, open.job_id, &page).await?.into_iter().collect();
        let (new, passed, skipped) = choose(&page, &made, room);
        let runs: Vec<i64> = ids[..new.len()].to_vec();
        let rows = new.iter().zip(&runs).map(|(at, id)| row(open.job_id, &place, *id, *at, now));
        self.insert_rows(&tx, "run", RUN, rows.collect()).await?;
        let text = "UPDATE backfill SET passed_at = COALESCE(?, passed_at), released = released + ?, skipped = skipped + ? WHERE id = ?";
        let values = vec![passed.into(), (new.len() as i32).into(), skipped.into(), open.id.into()];
        self.execute(&tx, text, values).await?;
        let all = passed == page.last().copied();
        let finished = all && page.len() < PAGE;
        if finished {
            self.finish(&tx, open.id, false, now).await?;
        }
        tx.commit().await?;
        Ok(Released { runs, finished, full: !all })
    }

    async fn open_count(&self, db: &impl ConnectionTrait, shard: i32, job_id: i64) -> Result<usize> {
        let text = "SELECT COUNT(*) FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND job_id = ? AND cause = 4";
        let row = self.one(db, text, vec![shard.into(), job_id.into()]).await?;
        let count: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
        Ok(count.unwrap_or_default().unsigned_abs() as usize)
    }

    async fn instants_after(&self, tx: &Transaction, id: i64, passed: Millis) -> Result<Vec<Millis>> {
        let text = "SELECT at FROM backfill_instant WHERE backfill_id = ? AND at > ? ORDER BY at LIMIT ?";
        let values: Vec<Value> = vec![id.into(), passed.into(), (PAGE as i64).into()];
        let rows = self.all(tx, text, values).await?;
        rows.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
    }

    async fn finish(&self, tx: &Transaction, id: i64, cancelled: bool, now: Millis) -> Result<()> {
        let text = "UPDATE backfill SET finished_at = ?, cancelled = ? WHERE id = ? AND finished_at IS NULL";
        self.execute(tx, text, vec![now.into(), cancelled.into(), id.into()]).await?;
        self.forget_instants(tx, id).await
    }

    pub(crate) async fn forget_instants(&self, tx: &Transaction, id: i64) -> Result<()> {
        let text = "DELETE FROM backfill_instant WHERE backfill_id = ?";
        self.execute(tx, text, vec![id.into()]).await?;
        Ok(())
    }
}

/// The instants that get a run, up to which all are passed then, and how many had one already.
fn choose(page: &[Millis], made: &HashSet<Millis>, room: usize) -> (Vec<Millis>, Option<Millis>, i32) {
    let (mut new, mut passed, mut skipped) = (vec![], None, 0);
    for &at in page {
        if made.contains(&at) {
            skipped += 1;
        } else if new.len() < room {
            new.push(at);
        } else {
            break;
        }
        passed = Some(at);
    }
    (new, passed, skipped)
}

/// The handler sees the logical instant; the executor's log is kept under the time of the release.
fn row(job_id: i64, place: &Place, id: i64, at: Millis, now: Millis) -> Vec<Value> {
    vec![
        id.into(),
        job_id.into(),
        place.app_id.into(),
        place.shard.into(),
        4i16.into(),
        at.into(),
        0i32.into(),
        1i32.into(),
        1i32.into(),
        at.into(),
        now.into(),
        0i16.into(),
        0i64.into(),
        0i32.into(),
        place.parent.into(),
    ]
}

/// What a run takes from its job's row.
struct Place {
    app_id: i64,
    shard: i32,
    parent: bool,
}

#[cfg(test)]
mod tests {
    use crate::backfill::release::choose;

    #[test]
    fn what_has_its_run_takes_no_room() {
        let made = [20, 50].into();
        let page = [10, 20, 30, 40, 50];
        assert_eq!(choose(&page, &made, 2), (vec![10, 30], Some(30), 1));
        assert_eq!(choose(&page, &made, 9), (vec![10, 30, 40], Some(50), 2));
        assert_eq!(choose(&page, &made, 0), (vec![], None, 0));
        assert_eq!(choose(&[20], &made, 0), (vec![], Some(20), 1));
    }
}
