//! The rows that a change of a job takes away or writes. All of them inside its transaction, with the job locked.

use carillon_scheduler::{Millis, RunReason};

use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::create::{CLOCK, cursor_row, definition_columns};
use crate::job::stored_job::Job;
use crate::views::JobStore;

impl JobStore<'_> {
    /// Takes away the schedule's runs that are not yet due: the new schedule makes its own. Answers their instants, whose fires the
    /// caller gives back.
    pub(crate) async fn delete_future_runs(self, tx: &Transaction, job_id: i64, now: Millis) -> Result<Vec<Millis>> {
        self.delete_tail(tx, job_id, now, "state = {state.claimed}").await
    }

    /// Takes away the first attempts ahead of now that are in such a state and come after everything else that is
    /// recorded. The cursor goes on behind that, so the instant of an earlier one would be left without a record. (Rows
    /// are ahead of each other when `now` is old by the time that the locks are had.) Answers their instants.
    async fn delete_tail(self, tx: &Transaction, job_id: i64, now: Millis, state: &str) -> Result<Vec<Millis>> {
        // MariaDB would read a small table as a whole, and wait for every lock on its way.
        let text = format!(
            "SELECT id, fire_no FROM run{{index run_fire}} WHERE fire_no > ? AND job_id = ? AND cause = {{cause.schedule}} AND attempt = 1 \
             AND {state} ORDER BY id{{for_update}}"
        );
        let ahead: Vec<(i64, Millis)> = self.tuples(tx, &text, values![now, job_id]).await?;
        // The rows above are locked, so this is all that can be marked or settled of the rest.
        let text = format!(
            "SELECT MAX(fire_no) FROM run WHERE fire_no > ? AND job_id = ? AND cause = {{cause.schedule}} AND NOT (attempt = 1 AND {state})"
        );
        let kept: Option<Millis> = self.tuple::<Option<Millis>>(tx, &text, values![now, job_id]).await?.flatten();
        let kept = kept.max(self.last_range(tx, job_id).await?);
        let mut deleted = vec![];
        for (id, at) in ahead {
            if kept.is_none_or(|kept| at > kept) {
                self.execute(tx, "DELETE FROM run WHERE id = ?", values![id]).await?;
                deleted.push(at);
            }
        }
        Ok(deleted)
    }

    /// What was not sent yet says why it never will be. Disabled: the schedule's runs, retries too; deleted: all.
    pub(crate) async fn cancel_claimed(
        self,
        tx: &Transaction,
        job: &Job,
        reason: RunReason,
        now: Millis,
    ) -> Result<u64> {
        let causes = if reason == RunReason::Deleted { "" } else { " AND cause = {cause.schedule}" };
        // Found without locks, or MariaDB would wait for every run of the shard that is being marked. None can be added
        // meanwhile: the job is locked.
        let text = format!(
            "SELECT id FROM run WHERE shard = ? AND state = {{state.claimed}} AND state < {{state.final}} AND job_id = ?{causes} ORDER BY id"
        );
        let ids: Vec<i64> = self.tuples(tx, &text, values![job.shard, job.id]).await?;
        self.runs().cancel_in(tx, &ids, reason, now).await
    }

    /// The job has moved to another app: so do its runs that have not been sent, without its secrets.
    pub(crate) async fn move_claimed(self, tx: &Transaction, job: &Job) -> Result<()> {
        let text = "UPDATE run SET app_id = ? WHERE shard = ? AND state = {state.claimed} AND state < {state.final} AND job_id = ?";
        self.execute(tx, text, values![job.app_id, job.shard, job.id]).await?;
        self.runs().forget_secrets_of(tx, job).await
    }

    /// Sets the cursor of an enabled job: where the engine stopped, or the first instant that is ahead of now and of
    /// everything recorded.
    pub(crate) async fn set_cursor(
        self,
        tx: &Transaction,
        job: &mut Job,
        was_disabled: bool,
        now: Millis,
    ) -> Result<()> {
        let mut ahead = vec![];
        if was_disabled {
            // They are ahead again and will be recorded again.
            let disabled = "state = {state.cancelled} AND reason = {reason.disabled}";
            ahead = self.delete_tail(tx, job.id, now, disabled).await?;
            job.give_back_fires(ahead.len());
        }
        let schedule = job.schedule().map_err(Error::Invalid)?;
        let resume_from = job.resume_from_at.take().map(|at| ahead.into_iter().fold(at, Millis::min));
        job.paused_reason = None;
        job.next_fire_at = match resume_from {
            _ if job.fires_left == Some(0) || job.draft.is_best_effort() => None,
            _ if schedule.is_delay() && self.runs().has_open_delay_run(tx, job.shard, job.id).await? => None,
            Some(at) if schedule.is_delay() => Some(at),
            Some(at) => schedule.next_after(at - 1),
            None => schedule.first_after(self.last_recorded(tx, job.id, now).await?.max(now)),
        };
        if schedule.is_delay() && job.next_fire_at.is_some() {
            self.runs().forget_chain_ends(tx, job.id).await?;
        }
        Ok(())
    }

    /// The latest instant beyond now that has a record: a run marked ahead of its time, or a range that a node with a
    /// quicker clock wrote.
    pub(crate) async fn last_recorded(self, tx: &Transaction, job_id: i64, now: Millis) -> Result<Millis> {
        let text = "SELECT MAX(fire_no) FROM run WHERE fire_no > ? AND job_id = ? AND cause = {cause.schedule}";
        let run: Option<Millis> = self.tuple::<Option<Millis>>(tx, text, values![now, job_id]).await?.flatten();
        Ok(run.max(self.last_range(tx, job_id).await?).unwrap_or(now))
    }

    /// The end of the latest range that will not run.
    async fn last_range(self, tx: &Transaction, job_id: i64) -> Result<Option<Millis>> {
        let text = "SELECT to_at FROM misfire WHERE job_id = ? ORDER BY from_at DESC LIMIT 1";
        self.tuple(tx, text, values![job_id]).await
    }

    pub(crate) async fn drop_clock(self, tx: &Transaction, old: &Job) -> Result<()> {
        if let Some(next) = old.next_fire_at {
            let text = "DELETE FROM job_clock WHERE shard = ? AND next_fire_at = ? AND job_id = ?";
            self.execute(tx, text, values![old.shard, next, old.id]).await?;
        }
        Ok(())
    }

    /// Writes the definition under the next revision, and its row in the due table.
    pub(crate) async fn write_job(self, tx: &Transaction, old: &Job, new: &mut Job, now: Millis) -> Result<()> {
        new.revision = old.revision + 1;
        new.updated_at = now;
        let set = named![app_id: new.app_id].into_iter().chain(definition_columns(new)).chain(named![
            paused_reason: new.paused_reason.clone(),
            resume_from_at: new.resume_from_at,
            revision: new.revision,
            updated_at: now,
        ]);
        self.update_columns(tx, "job", set, (" WHERE id = ?", values![new.id])).await?;
        if old.draft.params != new.draft.params {
            self.runs().keep_params(tx, old, now).await?;
            let text = "UPDATE job_params SET params = ? WHERE job_id = ?";
            self.execute(tx, text, values![new.draft.params.as_str(), new.id]).await?;
        }
        self.drop_clock(tx, old).await?;
        let clock = cursor_row(new).into_iter().collect();
        self.insert_rows(tx, "job_clock", CLOCK, clock).await?;
        // Each change of a job ends the grant of its loop, as it may have another definition now.
        match old.draft.is_best_effort() || new.draft.is_best_effort() {
            true => self.loops().change(tx, new).await,
            false => Ok(()),
        }
    }
}
