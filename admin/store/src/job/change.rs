//! Changes of a job: edit, enable, disable, delete. Each is one transaction that leaves no instant of the past without
//! a record and no run of the old definition that could still be sent.
//!
//! The mark and these transactions collide on the run's row, so one of them wins cleanly; a claim that was computed
//! from the old revision finds its clock row gone.

use carillon_scheduler::{AuditAction, Millis, RunReason};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject, difference};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::job::audit_snapshot::{audit_snapshot, with_revision};
use crate::job::lock::OverdueInstants;
use crate::job::stored_job::{Definition, Job};
use crate::store::Store;

/// What is to become of a job.
enum Change<'a> {
    Define(&'a Definition),
    /// The same with the newest versions of its calendars.
    Calendars,
    Enable,
    Disable,
    Delete,
}

/// Who wants it, when, and on which revision it was decided.
struct JobChange<'a> {
    change: Change<'a>,
    expected_revision: Option<i64>,
    now: Millis,
    actor: &'a Actor,
}

/// What an attempt at the transaction came to.
enum Attempt {
    Done(Box<Job>),
    /// Rolled back: the past needs this number of run ids, which cannot be taken inside a transaction.
    NeedsRuns(usize),
}

impl Store {
    /// Gives a job another definition. Runs that are not yet due are replaced by those of the new schedule; those that
    /// are due run with the new definition.
    ///
    /// # Errors
    /// `Missing`; `Changed`, if the job is not at `expected_revision` any more.
    pub async fn update_job(
        &self,
        id: i64,
        definition: &Definition,
        expected_revision: Option<i64>,
        now: Millis,
        actor: &Actor,
    ) -> Result<Job> {
        let change = Change::Define(definition);
        self.change_job(id, JobChange { change, expected_revision, now, actor }).await
    }

    /// Enables a job (its schedule begins now; after a pause by the engine it goes on where it stopped), or disables it
    /// (its recorded runs that were not sent yet are cancelled). Nothing happens if it is so already.
    ///
    /// # Errors
    /// `Missing`; `Invalid`, if the stored schedule cannot be used.
    pub async fn set_job_enabled(&self, id: i64, enabled: bool, now: Millis, actor: &Actor) -> Result<Job> {
        let change = if enabled { Change::Enable } else { Change::Disable };
        self.change_job(id, JobChange { change, expected_revision: None, now, actor }).await
    }

    /// Deletes a job and answers what it was. Its runs stay; those not sent yet are cancelled.
    ///
    /// # Errors
    /// `Missing`.
    pub async fn delete_job(&self, id: i64, now: Millis, actor: &Actor) -> Result<Job> {
        let change = Change::Delete;
        self.change_job(id, JobChange { change, expected_revision: None, now, actor }).await
    }

    pub(crate) async fn change_for_calendars(&self, id: i64, now: Millis, actor: &Actor) -> Result<Job> {
        let wish = JobChange { change: Change::Calendars, expected_revision: None, now, actor };
        self.change_job(id, wish).await
    }

    async fn change_job(&self, id: i64, wish: JobChange<'_>) -> Result<Job> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let mut run_ids = vec![];
        for _ in 0..4 {
            match retry::on_conflict(|| self.try_change(id, &wish, &run_ids, audit_id)).await? {
                Attempt::Done(job) => return Ok(*job),
                Attempt::NeedsRuns(count) => run_ids = self.take_ids(&ids::RUN, count + 10).await?,
            }
        }
        Err(Error::Busy)
    }

    async fn try_change(&self, id: i64, wish: &JobChange<'_>, run_ids: &[i64], audit_id: i64) -> Result<Attempt> {
        let tx = self.begin_change().await?;
        let mut old = self.lock_job(&tx, id).await?;
        if wish.expected_revision.is_some_and(|expected| expected != old.revision) {
            return Err(Error::Changed(format!("job {id} has revision {} by now", old.revision)));
        }
        let past = OverdueInstants::of(&old, wish.now);
        if past.runs() > run_ids.len() {
            return Ok(Attempt::NeedsRuns(past.runs()));
        }
        self.record_overdue(&tx, &old, &past, run_ids).await?;
        old.fires_left = old.fires_left.map(|left| left - past.runs() as i32);
        let (action, new) = match &wish.change {
            Change::Define(definition) => {
                (AuditAction::Update, self.define(&tx, &old, definition, &past, wish.now).await?)
            }
            Change::Calendars => match self.renew(&tx, &old, &past, wish.now).await? {
                Some(new) => (AuditAction::Calendars, new),
                None => return Ok(Attempt::Done(old.into())),
            },
            Change::Enable if old.draft.enabled => return Ok(Attempt::Done(old.into())),
            Change::Enable => (AuditAction::Enable, self.enable(&tx, &old, wish.now).await?),
            Change::Disable => match self.disable(&tx, &old, &past, wish.now).await? {
                Some(new) => (AuditAction::Disable, new),
                None => return Ok(Attempt::Done(old.into())),
            },
            Change::Delete => (AuditAction::Delete, self.delete(&tx, &old, wish.now).await?),
        };
        let detail = match wish.change {
            Change::Delete => with_revision(json!({"before": audit_snapshot(&old)}), old.revision + 1),
            _ => with_revision(difference(&audit_snapshot(&old), &audit_snapshot(&new)), new.revision),
        };
        let entry = AuditEntry::new(wish.actor, wish.now, action, AuditObject::job(id, old.app_id), detail);
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(Attempt::Done(new.into()))
    }

    async fn define(
        &self,
        tx: &Transaction,
        old: &Job,
        definition: &Definition,
        past: &OverdueInstants,
        now: Millis,
    ) -> Result<Job> {
        let mut new = Job {
            app_id: definition.app_id,
            draft: definition.draft.clone(),
            anchor_at: definition.anchor_after(old),
            spread_offset: definition.spread_offset,
            calendars: definition.calendars.clone(),
            fires_left: fires_left_after(old, definition),
            // A cursor that lies ahead has its instants recorded already: they go, and the schedule starts afresh.
            resume_from_at: resume_point(old, past).filter(|at| *at <= now),
            ..old.clone()
        };
        if old.draft.enabled && !new.draft.enabled {
            self.cancel_claimed(tx, old, RunReason::Disabled, now).await?;
        } else {
            self.delete_future_runs(tx, old.id, now).await?;
        }
        if old.app_id != new.app_id {
            self.move_claimed(tx, &new).await?;
        }
        if new.draft.enabled {
            self.set_cursor(tx, &mut new, !old.draft.enabled, now).await?;
        } else {
            new.next_fire_at = None;
        }
        self.write_job(tx, old, &mut new, now).await?;
        self.write_calendars(tx, old, &new).await?;
        self.write_children(tx, old, &new).await?;
        Ok(new)
    }

    /// None: it uses the newest versions of its calendars already.
    async fn renew(&self, tx: &Transaction, old: &Job, past: &OverdueInstants, now: Millis) -> Result<Option<Job>> {
        let Some(calendars) = self.newer_calendars(tx, old).await? else {
            return Ok(None);
        };
        let mut new = Job { calendars, resume_from_at: resume_point(old, past).filter(|at| *at <= now), ..old.clone() };
        // One that cannot be planned is left to the engine, which says so.
        if new.draft.enabled && new.schedule().is_ok() {
            self.delete_future_runs(tx, old.id, now).await?;
            self.set_cursor(tx, &mut new, false, now).await?;
        }
        self.write_job(tx, old, &mut new, now).await?;
        self.write_calendars(tx, old, &new).await?;
        Ok(Some(new))
    }

    async fn enable(&self, tx: &Transaction, old: &Job, now: Millis) -> Result<Job> {
        let mut new = old.clone();
        new.draft.enabled = true;
        self.set_cursor(tx, &mut new, true, now).await?;
        self.write_job(tx, old, &mut new, now).await?;
        Ok(new)
    }

    /// None: it was disabled, and nothing of it waited to be sent.
    async fn disable(&self, tx: &Transaction, old: &Job, past: &OverdueInstants, now: Millis) -> Result<Option<Job>> {
        let cancelled = self.cancel_claimed(tx, old, RunReason::Disabled, now).await?;
        if !old.draft.enabled && cancelled == 0 {
            return Ok(None);
        }
        let mut new = Job { resume_from_at: resume_point(old, past), next_fire_at: None, ..old.clone() };
        new.draft.enabled = false;
        self.write_job(tx, old, &mut new, now).await?;
        Ok(Some(new))
    }

    async fn delete(&self, tx: &Transaction, old: &Job, now: Millis) -> Result<Job> {
        self.cancel_claimed(tx, old, RunReason::Deleted, now).await?;
        self.drop_clock(tx, old).await?;
        self.drop_calendars(tx, old).await?;
        self.drop_family(tx, old.id).await?;
        self.keep_params(tx, old).await?;
        self.execute(tx, "DELETE FROM job_params WHERE job_id = ?", values![old.id]).await?;
        self.execute(tx, "DELETE FROM sticky WHERE job_id = ?", values![old.id]).await?;
        self.execute(tx, "DELETE FROM job WHERE id = ?", values![old.id]).await?;
        Ok(Job { next_fire_at: None, ..old.clone() })
    }
}

/// Where a job goes on whose instants could not be planned, by the engine or just now.
fn resume_point(old: &Job, past: &OverdueInstants) -> Option<Millis> {
    match past {
        OverdueInstants::Unplannable => old.next_fire_at,
        OverdueInstants::Planned { .. } => old.resume_from_at,
    }
}

/// Another schedule has all its fires before it; the same one goes on with those that are left.
fn fires_left_after(old: &Job, definition: &Definition) -> Option<i32> {
    match definition.draft.schedule == old.draft.schedule {
        true => old.fires_left,
        false => definition.spec.schedule.max_fires().map(u32::cast_signed),
    }
}
