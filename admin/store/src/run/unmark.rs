//! The way back from `sending` to `claimed`, the only one: for requests that were certainly not written.

use foldhash::HashSet;

use carillon_scheduler::{Millis, RunReason};

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{int, long};
use crate::db::sql::retry;
use crate::error::Result;
use crate::run::lock::LockMode;
use crate::views::RunStore;

/// A run that was marked and not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsent {
    pub run_id: i64,
    /// Of its mark.
    pub token: i64,
    /// The run keeps its address: it may go to no other executor.
    pub bound: bool,
}

pub(crate) static UNMARK: Bulk = Bulk::update_runs(
    &[long("id"), long("token"), int("keep")],
    &[
        ("state", "{state.claimed}"),
        ("sends", "run.sends - 1"),
        ("mark_token", "NULL"),
        ("marked_at", "NULL"),
        ("boot_id", "NULL"),
        ("revision", "NULL"),
        ("journal_id", "NULL"),
        ("follow", "run.follow & {follow.without_slots}"),
        ("address", "CASE u.keep WHEN 1 THEN run.address END"),
    ],
    "{+run.state} = {state.sending} AND run.mark_token = u.token",
);

/// What came of giving back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unmarked {
    /// How many were.
    pub done: u64,
    /// Runs whose job, or whose own row, another session holds: nothing has changed yet.
    pub held_up: HashSet<i64>,
    /// How many of them had slots of limits, which are free now.
    pub freed: usize,
}

impl RunStore<'_> {
    /// `sending` → `claimed`, where the mark is still the one that is given back.
    ///
    /// A change that disabled or deleted the job in the meantime found these runs marked and left them: they are cancelled
    /// here, as the change would have done.
    pub async fn unmark(self, unsent: &[Unsent], now: Millis) -> Result<Unmarked> {
        let mut unsent = unsent.to_vec();
        unsent.sort_unstable_by_key(|run| run.run_id);
        retry::on_conflict(|| self.try_unmark(&unsent, now)).await
    }

    async fn try_unmark(self, unsent: &[Unsent], now: Millis) -> Result<Unmarked> {
        let mut unsent = unsent.to_vec();
        let mut ids: Vec<i64> = unsent.iter().map(|run| run.run_id).collect();
        let tx = self.begin().await?;
        let jobs_of = self.jobs_of(&tx, &ids).await?;
        let jobs = self.lock_jobs(&tx, jobs_of.values().copied(), LockMode::SkipLocked).await?;
        let (jobs, held_jobs) = (jobs.owners, jobs.held_up);
        let is_held = |id: &i64| jobs_of.get(id).is_some_and(|job| held_jobs.contains(job));
        let mut held_up: HashSet<i64> = ids.extract_if(.., |id| is_held(id)).collect();
        let runs = self.lock_runs(&tx, &ids, LockMode::SkipLocked).await?;
        held_up.extend(runs.held_up);
        ids.retain(|id| !held_up.contains(id));
        unsent.retain(|run| !held_up.contains(&run.run_id));
        let runs = runs.by_id;
        let rows: Vec<_> = unsent.iter().map(|run| (run.run_id, run.token, i32::from(run.bound))).collect();
        let done = self.bulk(&tx, &UNMARK, &[], &rows).await?;
        let with_slots: Vec<i64> = runs.values().filter(|run| run.has_slots()).map(|run| run.id).collect();
        let moved: Vec<i64> = runs.values().filter(|run| run.is_of_former_app()).map(|run| run.id).collect();
        self.forget_secrets_of_unsent(&tx, &moved).await?;
        let freed = self.limits().free_unmarked(&tx, &with_slots).await?;
        let (mut disabled, mut deleted) = (vec![], vec![]);
        for id in ids {
            match runs.get(&id).map(|run| (jobs.get(&run.job_id), run.cause)) {
                Some((None, _)) => deleted.push(id),
                Some((Some(job), cause)) if !job.allows_pending(cause) => disabled.push(id),
                _ => {}
            }
        }
        self.cancel_in(&tx, &disabled, RunReason::Disabled, now).await?;
        self.cancel_in(&tx, &deleted, RunReason::Deleted, now).await?;
        tx.commit().await?;
        Ok(Unmarked { done, held_up, freed })
    }
}
