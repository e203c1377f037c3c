//! Runs that no claim makes: run now, API, children, backfills, and what a change of a job finds overdue. `claimed` under epoch 0:
//! the holder of their shard adopts them.

use carillon_scheduler::{Cause, Millis};

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{ListColumn, long, short};
use crate::error::Result;
use crate::views::RunStore;

/// The first attempt of a fire, part 0; the rest comes from the job's row.
pub(crate) struct NewRun {
    pub id: i64,
    pub job_id: i64,
    pub cause: Cause,
    pub fire_no: i64,
    pub scheduled_at: Millis,
    pub due_at: Millis,
}

const LIST: &[ListColumn] =
    &[long("id"), long("job_id"), short("cause"), long("fire_no"), long("scheduled_at"), long("due_at")];

macro_rules! insert {
    ($only_if:literal) => {
        concat!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, \
             follow) SELECT u.id, j.id, j.app_id, j.shard, u.cause, u.fire_no, 0, 1, 1, u.scheduled_at, u.due_at, {state.claimed}, 0, 0, \
             j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.cause = {cause.schedule} THEN {follow.chain} ELSE 0 END \
             + CASE WHEN u.cause = {cause.node} THEN {follow.node} ELSE 0 END \
             FROM {list} {join} job AS j{index PRIMARY} ON j.id = u.job_id",
            $only_if
        )
    };
}

/// A key that is there already is an error.
pub(crate) static NEW_RUNS: Bulk = Bulk::text(LIST, insert!(""));

/// A child's fire is known by its parent fire's first run, so there is one for each parent fire.
pub(crate) static NEW_CHILDREN: Bulk = Bulk::text(
    LIST,
    insert!(
        " WHERE NOT EXISTS (SELECT 1 FROM run AS made WHERE made.fire_no = u.fire_no AND made.job_id = u.job_id AND made.cause = u.cause)"
    ),
);

impl RunStore<'_> {
    pub(crate) async fn insert_runs(self, tx: &Transaction, runs: &[NewRun]) -> Result<()> {
        if !runs.is_empty() {
            self.bulk(tx, &NEW_RUNS, &[], &rows(runs)).await?;
        }
        Ok(())
    }

    /// False: the fire has it already.
    pub(crate) async fn insert_child_run(self, tx: &Transaction, run: NewRun) -> Result<bool> {
        Ok(self.bulk(tx, &NEW_CHILDREN, &[], &rows(&[run])).await? == 1)
    }
}

fn rows(runs: &[NewRun]) -> Vec<(i64, i64, i16, i64, Millis, Millis)> {
    let row = |it: &NewRun| (it.id, it.job_id, it.cause.code(), it.fire_no, it.scheduled_at, it.due_at);
    runs.iter().map(row).collect()
}
