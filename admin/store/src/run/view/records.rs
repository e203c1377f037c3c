//! What is on record of the instants of schedules: to be compared with what should be.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;
use foldhash::{HashSet, HashSetExt as _};
use sea_orm::DbBackend;

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::long;
use crate::error::Result;
use crate::run::claim::DueJob;
use crate::run::view::misfires::{Misfire, MisfireFilter};
use crate::views::RunStore;

/// All that is on record of a job's instants in a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Instants that have a run.
    pub fires: BTreeSet<Millis>,
    /// Ranges that have a part in the span.
    pub ranges: Vec<Misfire>,
    /// Records of instants up to this one may have been pruned.
    pub pruned_to: Option<Millis>,
}

/// Numbers of jobs that are read in one statement.
const IDS_AT_ONCE: u32 = 5_000;

/// A fire of a fixed delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayFire {
    /// Its instant.
    pub at: Millis,
    /// When the last of its runs ended; None: one is on its way.
    pub ended_at: Option<Millis>,
}

/// A run that was marked, or that ended, no later than this after a change began may have been kept by it: the change may
/// have waited for the database and for its locks meanwhile.
const KEPT_WITHIN: i64 = 15_000;
/// Runs lie no further ahead of a change than the look-ahead; this is more than any.
const AHEAD: i64 = 60_000;

/// Where a cursor stands in its shard: its instant, and its job.
pub type CursorPosition = (Millis, i64);

/// Before all others.
pub const FIRST: CursorPosition = (i64::MIN, i64::MIN);

/// MariaDB does not look up pairs by a key; it joins the two ranges.
pub(crate) const fn cursors(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::MySql => {
            "SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? \
             AND (next_fire_at > ? OR next_fire_at = ? AND job_id > ?) ORDER BY shard, next_fire_at, job_id LIMIT ?"
        }
        _ => {
            "SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND (next_fire_at, job_id) > ({?}, ?) \
             ORDER BY shard, next_fire_at, job_id LIMIT ?"
        }
    }
}

/// An enabled job whose schedule has instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledJob {
    pub job_id: i64,
    pub shard: i32,
    pub revision: i64,
}

/// By the jobs and not by their cursors: a job whose last fire is planned has no cursor any more.
pub(crate) const SCHEDULED: &str = "SELECT id, shard, revision FROM job{index PRIMARY} \
     WHERE id > ? AND enabled = TRUE AND durability = 'durable' AND schedule_kind NOT IN ('none', 'fixed_delay') ORDER BY id LIMIT ?";

/// Which of these instants of these jobs have a run: by the unique key of fires, one look-up each.
pub(crate) static RECORDED: Bulk = Bulk::text(
    &[long("at"), long("job")],
    "SELECT run.fire_no, run.job_id FROM {list} {join} run{index run_fire} ON run.fire_no = u.at AND run.job_id = u.job \
     AND run.cause = {cause.schedule} AND run.part = 0 AND run.attempt = 1",
);

/// Instants that one statement looks up.
const LOOK_UPS: usize = 1000;

impl RunStore<'_> {
    /// Cursors of a shard behind a place, in their order.
    pub async fn cursors_behind(self, shard: i32, place: CursorPosition, limit: usize) -> Result<Vec<DueJob>> {
        let mut values = values![shard, place.0];
        if self.backend == DbBackend::MySql {
            values.push(place.0.into());
        }
        values.extend(values![place.1, limit as i64]);
        self.cursors(cursors(self.backend), values).await
    }

    /// Jobs of all shards with a greater id than this whose schedules have instants, in the order of their ids.
    pub async fn scheduled_jobs(self, after: i64, limit: usize) -> Result<Vec<ScheduledJob>> {
        let rows = self.tuples(&self.engine_reads, SCHEDULED, values![after, limit as i64]).await?;
        let job = |(job_id, shard, revision)| ScheduledJob { job_id, shard, revision };
        Ok(rows.into_iter().map(job).collect())
    }

    /// The instants among these, each with its job, that have a run by schedule.
    pub async fn recorded_among(self, instants: &[(Millis, i64)]) -> Result<HashSet<(Millis, i64)>> {
        let mut found = HashSet::new();
        for chunk in instants.chunks(LOOK_UPS) {
            found.extend(self.bulk_tuples::<(Millis, i64), _>(&self.engine_reads, &RECORDED, &[], chunk).await?);
        }
        Ok(found)
    }

    /// Ranges of skipped instants of these jobs that reach beyond `from`: job, first and last instant.
    pub async fn skipped_by(self, job_ids: &[i64], from: Millis) -> Result<Vec<(i64, Millis, Millis)>> {
        let text = "SELECT job_id, from_at, to_at FROM misfire WHERE job_id IN ({ids}) AND to_at > ?";
        self.tuples(&self.engine_reads, text, values![self.ids(job_ids), from]).await
    }

    /// Instants after `from`, up to and including `to`, that have a run by schedule, and whose: at most `limit`, the
    /// earliest first. From the unique key alone.
    pub async fn recorded_fires(self, from: Millis, to: Millis, limit: u32) -> Result<Vec<(Millis, i64)>> {
        let text = "SELECT fire_no, job_id FROM run WHERE fire_no > ? AND fire_no <= ? AND cause = {cause.schedule} AND part = 0 AND attempt = 1 \
                    ORDER BY fire_no LIMIT ?";
        let values = values![from, to, i64::from(limit)];
        self.tuples(&self.engine_reads, text, values).await
    }

    /// Fires of a job's schedule that are on record, of instants after `from`, up to and including `to`: how many, and the last one.
    pub async fn count_fires(self, job_id: i64, from: Millis, to: Millis) -> Result<(usize, Option<Millis>)> {
        let text = "SELECT COUNT(*), MAX(fire_no) FROM run WHERE fire_no > ? AND fire_no <= ? AND job_id = ? AND cause = {cause.schedule} AND part = 0 AND attempt = 1";
        let found = self.tuple::<(i64, Option<Millis>)>(&self.engine_reads, text, values![from, to, job_id]).await?;
        Ok(found.map_or((0, None), |(count, last)| (count as usize, last)))
    }

    /// Instants of a job's schedule in ranges of skipped ones that reach beyond `from`: all of each range.
    pub async fn count_skipped(self, job_id: i64, from: Millis) -> Result<usize> {
        let text = "SELECT count FROM misfire WHERE job_id = ? AND to_at > ?";
        let counts = self.tuples::<i32>(&self.engine_reads, text, values![job_id, from]).await?;
        Ok(counts.iter().map(|count| *count as usize).sum())
    }

    /// What is on record of one job, of instants after `from`, up to and including `to`.
    pub async fn records_of(self, job_id: i64, from: Millis, to: Millis) -> Result<Records> {
        let text = "SELECT fire_no FROM run WHERE fire_no > ? AND fire_no <= ? AND job_id = ? AND cause = {cause.schedule} AND part = 0 AND attempt = 1";
        let fires = self.tuples(&self.engine_reads, text, values![from, to, job_id]).await?.into_iter().collect();
        let mut filter = MisfireFilter {
            job_id: Some(job_id),
            from: Some(from + 1),
            to: Some(to + 1),
            limit: 1000,
            ..MisfireFilter::default()
        };
        let mut ranges = vec![];
        loop {
            let page = self.misfires(&filter).await?;
            ranges.extend(page.items);
            let Some(next) = page.next else {
                break;
            };
            filter.after = Some(next);
        }
        let pruned_to = self.pruned_to(job_id).await?;
        Ok(Records { fires, ranges, pruned_to })
    }

    /// The fires of a job by schedule, after `from`, up to and including `to`, the earliest first.
    pub async fn delay_fires(self, job_id: i64, from: Millis, to: Millis) -> Result<Vec<DelayFire>> {
        let text = "SELECT fire_no, COUNT(CASE WHEN state IN ({state.pending}) THEN 1 END), MAX(finished_at) FROM run \
                    WHERE fire_no > ? AND fire_no <= ? AND job_id = ? AND cause = {cause.schedule} GROUP BY fire_no ORDER BY fire_no";
        let link = |(at, open, ended_at): (Millis, i64, Option<Millis>)| {
            let ended_at = ended_at.filter(|_| open == 0);
            DelayFire { at, ended_at }
        };
        let rows = self.tuples(&self.engine_reads, text, values![from, to, job_id]).await?;
        Ok(rows.into_iter().map(link).collect())
    }

    /// Instants of a job's schedule up to this one may have no record any more.
    pub async fn pruned_to(self, job_id: i64) -> Result<Option<Millis>> {
        let text = "SELECT runs_to, misfires_to FROM pruned WHERE job_id = ?";
        let pruned: Option<(Millis, Millis)> = self.tuple(&self.engine_reads, text, values![job_id]).await?;
        Ok(pruned.map(|(runs, misfires)| runs.max(misfires)))
    }

    /// Records ahead of a change that it may have found and could not take back; what it put in force begins behind them.
    pub async fn kept_ahead(self, job_id: i64, changed_at: Millis) -> Result<Vec<Millis>> {
        let text = "SELECT fire_no FROM run WHERE fire_no > ? AND fire_no <= ? AND job_id = ? AND cause = {cause.schedule} \
                    AND (marked_at <= ? OR finished_at <= ? OR attempt > 1)";
        let by = changed_at + KEPT_WITHIN;
        let values = values![changed_at, changed_at + AHEAD, job_id, by, by];
        let mut kept: Vec<Millis> = self.tuples(&self.engine_reads, text, values).await?;
        let text = "SELECT to_at FROM misfire WHERE job_id = ? AND from_at <= ? AND to_at > ?";
        let values = values![job_id, by, changed_at];
        kept.extend(self.tuples::<Millis>(&self.engine_reads, text, values).await?);
        Ok(kept)
    }

    /// Jobs above `after`, by their numbers.
    pub async fn job_ids(self, after: i64, limit: u32) -> Result<Vec<i64>> {
        let text = "SELECT id FROM job WHERE id > ? ORDER BY id LIMIT ?";
        let values = values![after, i64::from(limit)];
        self.tuples::<i64>(&self.engine_reads, text, values).await
    }

    /// The numbers of all jobs, in order.
    pub async fn all_job_ids(self) -> Result<Vec<i64>> {
        let mut all: Vec<i64> = vec![];
        loop {
            let page = self.job_ids(all.last().copied().unwrap_or(0), IDS_AT_ONCE).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }
}
