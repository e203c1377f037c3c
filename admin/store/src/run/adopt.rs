//! What a holder finds when it looks at its shard: orphans of others to adopt, and runs that wait.

use carillon_scheduler::{Cause, Millis};
use sea_orm::{DbBackend, QueryResult, Value};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::run::claim::Holder;
use crate::{Error, Result, Store};

/// A run that is recorded and not sent: all that routing needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub run_id: i64,
    pub job_id: i64,
    pub shard: i32,
    pub epoch: i64,
    pub cause: Cause,
    pub fire_no: i64,
    pub part: i32,
    pub parts: i32,
    pub attempt: i32,
    pub scheduled_at: Millis,
    pub due_at: Millis,
    /// The only executor that may get it: a part of a broadcast, or an address given by hand.
    pub bound_to: Option<String>,
    /// An earlier fire of its job was open when it was due: it may be as late as it likes.
    pub overlaps: bool,
}

/// `state < 9` is there to the letter: SQLite takes a partial index only for its own words. Read without locks: on MariaDB an
/// UPDATE by this condition would also wait for the row behind the last orphan, which is the next one to be marked.
pub(crate) const ORPHANS: Text = Text {
    sqlite: "SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch < ? AND due_at <= ? LIMIT ?",
    postgres: "SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch < ? AND due_at <= ? LIMIT ?",
    mysql: "SELECT id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state = 0 AND epoch < ? AND due_at <= ? LIMIT ?",
};

pub(crate) const ADOPT: Text = Text {
    sqlite: "UPDATE run SET epoch = ?, owner = ? WHERE id IN (SELECT u.value FROM json_each(?) AS u) AND +shard = ? AND +state = 0 AND +epoch < ?",
    postgres: "UPDATE run SET epoch = ?, owner = ? WHERE id IN (SELECT unnest(?::bigint[])) AND shard + 0 = ? AND state + 0 = 0 AND epoch + 0 < ?",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.epoch = ?, run.owner = ? WHERE run.shard = ? AND run.state = 0 AND run.epoch < ?",
};

/// The new ones among them, due since some moment: the rows of runs that were sent long ago are not walked over, which
/// PostgreSQL cannot forget while an old snapshot is open.
pub(crate) const NEW: Text = Text {
    sqlite: "SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = 0 AND due_at >= ? AND due_at <= ? LIMIT ?",
    postgres: "SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = 0 AND due_at >= ? AND due_at <= ? LIMIT ?",
    mysql: "SELECT id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state = 0 AND epoch = 0 AND due_at >= ? AND due_at <= ? LIMIT ?",
};

/// Rows at a time.
const PAGE: usize = 1_000;

pub(crate) const WAITING: &str = "SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND due_at <= ? \
     ORDER BY due_at, id LIMIT ?";

const COLUMNS: &str = "run.id, run.job_id, run.shard, run.epoch, run.cause, run.fire_no, run.part, run.parts, run.attempt, \
     run.scheduled_at, run.due_at, COALESCE(run.address, run_input.address), run.reason \
     FROM run LEFT JOIN run_input ON run_input.run_id = run.id";

/// What waits of a shard, and what of it cannot be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Earliest first.
    pub runs: Vec<Waiting>,
    /// Runs whose rows hold something that this version does not know, with what it is.
    pub unreadable: Vec<(i64, String)>,
}

impl Store {
    /// Takes over what waits under a lower epoch, at most so many: rows of an earlier holder, and new ones that have none yet.
    /// With `from` only new ones that are due since then are looked for. Answers which were found.
    pub async fn adopt(
        &self,
        holder: &Holder<'_>,
        from: Option<Millis>,
        until: Millis,
        most: usize,
    ) -> Result<Vec<i64>> {
        let mut adopted = vec![];
        while adopted.len() < most {
            let page = PAGE.min(most - adopted.len());
            let orphans = self.orphans(holder, from, until, page).await?;
            if !orphans.is_empty() {
                self.adopt_these(holder, &orphans).await?;
            }
            let found = orphans.len();
            adopted.extend(orphans);
            if found < page {
                break;
            }
        }
        Ok(adopted)
    }

    async fn orphans(&self, holder: &Holder<'_>, from: Option<Millis>, until: Millis, page: usize) -> Result<Vec<i64>> {
        let (text, second) = match from {
            Some(from) => (NEW, from),
            None => (ORPHANS, holder.epoch),
        };
        let values = vec![holder.shard.into(), second.into(), until.into(), (page as i64).into()];
        let text = text.of(self.backend);
        let mut ids = self.ids_of(self.hot_reads(), text, values).await?;
        // Locked in the order in which a mark locks them.
        ids.sort_unstable();
        Ok(ids)
    }

    async fn adopt_these(&self, holder: &Holder<'_>, ids: &[i64]) -> Result<u64> {
        let (_, list) = dialect::id_list(self.backend, ids);
        let (epoch, node) = (Value::from(holder.epoch), Value::from(holder.node));
        let mut values = match self.backend {
            DbBackend::MySql => vec![list, epoch.clone(), node],
            _ => vec![epoch.clone(), node, list],
        };
        values.extend([holder.shard.into(), epoch]);
        let mut tries = 0;
        loop {
            let adopt = ADOPT.of(self.backend);
            match self.execute(&self.write, adopt, values.clone()).await {
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                other => return Ok(other?.rows_affected()),
            }
        }
    }

    /// What waits under this epoch and is due until then, earliest first.
    pub async fn waiting(&self, shard: i32, epoch: i64, until: Millis, limit: usize) -> Result<Vec<Waiting>> {
        let ids = self.waiting_ids(shard, epoch, until, limit).await?;
        Ok(self.waiting_runs(shard, epoch, &ids).await?.runs)
    }

    /// The ids of the same, which cost little to read.
    pub async fn waiting_ids(&self, shard: i32, epoch: i64, until: Millis, limit: usize) -> Result<Vec<i64>> {
        let values = vec![shard.into(), epoch.into(), until.into(), (limit as i64).into()];
        self.ids_of(self.hot_reads(), WAITING, values).await
    }

    /// Those of these runs that wait under this epoch.
    pub async fn waiting_runs(&self, shard: i32, epoch: i64, ids: &[i64]) -> Result<Found> {
        let mut found = Found::default();
        for page in ids.chunks(PAGE) {
            let (list, value) = dialect::id_list(self.backend, page);
            let text = format!(
                "SELECT {COLUMNS} WHERE run.id IN ({list}) AND run.shard + 0 = ? AND run.state + 0 = 0 AND run.epoch + 0 = ?"
            );
            let values = vec![value, shard.into(), epoch.into()];
            for row in self.all(self.hot_reads(), &text, values).await? {
                match read(&row) {
                    Ok(run) => found.runs.push(run),
                    Err(error) => {
                        let id = row.try_get_by_index(0)?;
                        found.unreadable.push((id, error.to_string()));
                    }
                }
            }
        }
        found.runs.sort_unstable_by_key(|run| (run.due_at, run.run_id));
        Ok(found)
    }
}

fn read(row: &QueryResult) -> Result<Waiting> {
    let cause: i16 = row.try_get_by_index(4)?;
    Ok(Waiting {
        run_id: row.try_get_by_index(0)?,
        job_id: row.try_get_by_index(1)?,
        shard: row.try_get_by_index(2)?,
        epoch: row.try_get_by_index(3)?,
        cause: Cause::from_code(cause).ok_or_else(|| Error::Corrupt(format!("cause {cause} of a run")))?,
        fire_no: row.try_get_by_index(5)?,
        part: row.try_get_by_index(6)?,
        parts: row.try_get_by_index(7)?,
        attempt: row.try_get_by_index(8)?,
        scheduled_at: row.try_get_by_index(9)?,
        due_at: row.try_get_by_index(10)?,
        bound_to: row.try_get_by_index(11)?,
        overlaps: row.try_get_by_index::<Option<String>>(12)?.as_deref() == Some("overlap"),
    })
}
