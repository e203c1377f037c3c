//! What is left of runs that are gone: their number in the counts of their day, and how far a job's instants may have no record any more.
//! Each is one statement for all runs of a transaction, so that their deletion keeps up with any rate at which they were run.

use carillon_scheduler::{Millis, RunState};
use foldhash::{HashMap, HashMapExt as _};
use sea_orm::FromQueryResult;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, int, long};
use crate::error::Result;
use crate::retention::prune_runs::LockedPrunable;
use crate::views::RetentionStore;

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

const DAYS: &[ListColumn] =
    &[int("day"), long("job_id"), long("app_id"), long("succeeded"), long("failed"), long("killed"), long("cancelled")];

type DayRow = (i32, i64, i64, i64, i64, i64, i64);

static ADD_COUNTS: Bulk = Bulk::update(
    DAYS,
    Update {
        table: "run_day",
        index: "PRIMARY",
        on: "run_day.day = u.day AND run_day.job_id = u.job_id",
        set: &[
            ("succeeded", "run_day.succeeded + u.succeeded"),
            ("failed", "run_day.failed + u.failed"),
            ("killed", "run_day.killed + u.killed"),
            ("cancelled", "run_day.cancelled + u.cancelled"),
        ],
        only_if: "",
    },
);

static INSERT_COUNTS: Bulk = Bulk::text(
    DAYS,
    "INSERT INTO run_day (day, job_id, app_id, succeeded, failed, killed, cancelled) \
     SELECT u.day, u.job_id, u.app_id, u.succeeded, u.failed, u.killed, u.cancelled FROM {list} \
     WHERE NOT EXISTS (SELECT 1 FROM run_day AS kept WHERE kept.day = u.day AND kept.job_id = u.job_id)",
);

const INSTANTS: &[ListColumn] = &[long("job_id"), long("runs_to"), long("misfires_to")];

static RAISE: Bulk = Bulk::update(
    INSTANTS,
    Update {
        table: "pruned",
        index: "PRIMARY",
        on: "pruned.job_id = u.job_id",
        set: &[
            ("runs_to", "CASE WHEN pruned.runs_to < u.runs_to THEN u.runs_to ELSE pruned.runs_to END"),
            (
                "misfires_to",
                "CASE WHEN pruned.misfires_to < u.misfires_to THEN u.misfires_to ELSE pruned.misfires_to END",
            ),
        ],
        only_if: "",
    },
);

static INSERT_INSTANTS: Bulk = Bulk::text(
    INSTANTS,
    "INSERT INTO pruned (job_id, runs_to, misfires_to) SELECT u.job_id, u.runs_to, u.misfires_to FROM {list} \
     WHERE NOT EXISTS (SELECT 1 FROM pruned AS kept WHERE kept.job_id = u.job_id)",
);

impl RetentionStore<'_> {
    /// Adds these runs to the counts of their days.
    pub(super) async fn count_days(self, tx: &Transaction, going: &[LockedPrunable]) -> Result<()> {
        let mut days: HashMap<(i32, i64), DayCounts> = HashMap::new();
        for run in going {
            let day = self.report_day(run.scheduled_at);
            let none = DayCounts { day, job_id: run.job_id, app_id: run.app_id, ..DayCounts::default() };
            *days.entry((day, run.job_id)).or_insert(none).of(run.state) += 1;
        }
        let mut days: Vec<DayRow> = days.values().map(DayCounts::row).collect();
        days.sort_unstable();
        if self.bulk(tx, &ADD_COUNTS, &[], &days).await? < days.len() as u64 {
            self.bulk(tx, &INSERT_COUNTS, &[], &days).await?;
        }
        Ok(())
    }

    /// Instants of these jobs up to these ones may have no record any more: (job, of its runs, of its skipped ranges).
    pub(super) async fn note_pruned(self, tx: &Transaction, mut jobs: Vec<(i64, Millis, Millis)>) -> Result<()> {
        jobs.sort_unstable();
        if !jobs.is_empty() && self.bulk(tx, &RAISE, &[], &jobs).await? < jobs.len() as u64 {
            self.bulk(tx, &INSERT_INSTANTS, &[], &jobs).await?;
        }
        Ok(())
    }

    /// What is left of a job's runs that are gone, day by day, the earliest first.
    pub async fn day_counts(self, job_id: i64, from_day: i32, to_day: i32) -> Result<Vec<DayCounts>> {
        let text = "SELECT day, job_id, app_id, succeeded, failed, killed, cancelled FROM run_day \
                    WHERE job_id = ? AND day >= ? AND day <= ? ORDER BY day";
        self.all(&self.engine_reads, text, values![job_id, from_day, to_day]).await
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

    fn row(&self) -> DayRow {
        (self.day, self.job_id, self.app_id, self.succeeded, self.failed, self.killed, self.cancelled)
    }
}
