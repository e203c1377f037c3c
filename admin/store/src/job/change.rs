//! Changes of a job: edit, enable, disable, delete. Each is one transaction that leaves no instant of the past without
//! a record and no run of the old definition that could still be sent.
//!
//! The mark and these transactions collide on the run's row, so one of them wins cleanly; a claim that was computed
//! from the old revision finds its clock row gone.

use carillon_scheduler::{AlarmKind, AuditAction, Millis, zone_data};
use serde_json::json;

use crate::alarm::alarms::Alarm;
use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject, difference};
use crate::calendar::pinned::Calendars;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::job::audit_snapshot::{audit_snapshot, with_revision};
use crate::job::lock::{OverdueInstants, TargetJob};
use crate::job::pause::PauseNote;
use crate::job::stored_job::{Definition, Job};
use crate::views::JobStore;

/// Jobs that one transaction changes: on SQLite all other writers wait for it.
const SLICE: usize = 50;
/// Tries with more run ids each.
const TRIES: usize = 6;

/// What is to become of a job.
#[derive(Clone, Debug)]
pub enum JobChange {
    /// The new definition, and the revision that the job must have; None: any revision.
    Define(Box<Definition>, Option<i64>),
    Enable,
    Pause(PauseNote),
    Delete,
    /// The same definition with the newest versions of its calendars.
    Calendars,
    /// The same definition, planned with the time zone data of this process.
    ZoneData,
    /// Its pause is over: what it has missed is left to its misfire policy.
    EndOfPause,
    /// Its fires have failed too often in a row, if they still have when the job is locked.
    PauseFailing,
}

impl JobChange {
    fn is_without_effect(&self, old: &Job, renewal: Option<&Calendars>) -> bool {
        match self {
            JobChange::Enable | JobChange::EndOfPause => old.draft.enabled,
            JobChange::PauseFailing => !old.draft.enabled,
            JobChange::Calendars | JobChange::ZoneData => renewal.is_none(),
            JobChange::Define(..) | JobChange::Pause(_) | JobChange::Delete => false,
        }
    }

    fn audit_detail(&self, old: &Job, new: &Job) -> serde_json::Value {
        let mut detail = match self {
            JobChange::Delete => with_revision(json!({"before": audit_snapshot(old)}), old.revision + 1),
            _ => with_revision(difference(&audit_snapshot(old), &audit_snapshot(new)), new.revision),
        };
        if let Some(pause) = new.pause.as_ref().filter(|_| new.pause != old.pause) {
            detail["note"] = pause.note.as_str().into();
            detail["until"] = pause.ends_at.into();
        }
        if matches!(self, JobChange::ZoneData) {
            detail["zone_data"] = zone_data().version().into();
        }
        detail
    }
}

/// A change that is committed.
#[derive(Debug)]
pub struct ChangedJob {
    pub job: Job,
    pub alarm: Option<Alarm>,
    /// False: it was so already.
    pub is_changed: bool,
}

impl ChangedJob {
    fn unchanged(job: Job) -> Self {
        Self { job, alarm: None, is_changed: false }
    }
}

/// Who wants it, and when.
#[derive(Clone, Copy)]
pub(crate) struct ChangeContext<'a> {
    pub now: Millis,
    pub actor: &'a Actor,
    /// How many delayed triggers wait of jobs that are deleted.
    pub delayed: &'a [(i64, i64)],
}

/// Ids that were taken before the transaction.
struct TakenIds<'a> {
    runs: &'a [i64],
    /// Ids of the audit entry and of an alarm.
    rows: [i64; 2],
    /// Ids of audit entries about the parents of deleted jobs.
    parents: &'a [i64],
}

/// What a change of a locked job needs.
struct Prepared<'a> {
    overdue: OverdueInstants,
    /// The calendars that the job gets.
    renewal: Option<Calendars>,
    /// How many fires in a row have failed.
    failures: Option<i32>,
    /// The jobs that have this one as a child, and ids for their audit entries.
    parents: Vec<Job>,
    parent_entries: &'a [i64],
}

/// What an attempt at a job came to.
enum Attempt {
    Done(Box<ChangedJob>),
    /// The past needs this number of run ids, which cannot be taken inside a transaction.
    NeedsRuns(usize),
}

impl JobStore<'_> {
    /// Gives a job another definition. Runs that are not yet due are replaced by those of the new schedule; those that
    /// are due run with the new definition.
    ///
    /// # Errors
    /// `Missing`; `Changed`, if the job is not at `expected_revision` any more.
    pub async fn update(
        self,
        job: impl Into<TargetJob>,
        definition: &Definition,
        expected_revision: Option<i64>,
        now: Millis,
        actor: &Actor,
    ) -> Result<Job> {
        let change = JobChange::Define(Box::new(definition.clone()), expected_revision);
        Ok(self.change(job, &change, now, actor).await?.job)
    }

    /// Enables a job (its schedule begins now; after a pause by the engine it goes on where it stopped), or disables it
    /// (its recorded runs that were not sent yet are cancelled). Nothing happens if it is so already.
    ///
    /// # Errors
    /// `Missing`; `Invalid`, if the stored schedule cannot be used.
    pub async fn set_enabled(self, id: i64, enabled: bool, now: Millis, actor: &Actor) -> Result<Job> {
        let change = if enabled { JobChange::Enable } else { JobChange::Pause(PauseNote::default()) };
        Ok(self.change(id, &change, now, actor).await?.job)
    }

    /// Deletes a job and answers what it was. Its runs stay; those not sent yet are cancelled.
    ///
    /// # Errors
    /// `Missing`.
    pub async fn delete(self, job: impl Into<TargetJob>, now: Millis, actor: &Actor) -> Result<Job> {
        Ok(self.change(job, &JobChange::Delete, now, actor).await?.job)
    }

    pub(crate) async fn change_for_calendars(self, id: i64, now: Millis, actor: &Actor) -> Result<Job> {
        Ok(self.change(id, &JobChange::Calendars, now, actor).await?.job)
    }

    /// # Errors
    /// `Missing`; `Changed`; `Invalid`, if the stored schedule cannot be used; `Refused`: a child.
    pub async fn change(
        self,
        job: impl Into<TargetJob>,
        change: &JobChange,
        now: Millis,
        actor: &Actor,
    ) -> Result<ChangedJob> {
        let job = job.into();
        let changed = self.change_together(&[(job, change)], ChangeContext { now, actor, delayed: &[] }).await?;
        changed.into_iter().next().ok_or_else(|| Error::Missing(format!("job {}", job.id)))
    }

    /// Changes many jobs, at most 50 of them in a transaction, and answers the outcome of each in the order of the ids. One that
    /// is refused holds up no other: the jobs of its slice are then changed one by one.
    ///
    /// # Errors
    /// The database does not answer; the slices before are committed.
    pub async fn change_each(
        self,
        changes: &[(impl Into<TargetJob> + Copy, JobChange)],
        now: Millis,
        actor: &Actor,
    ) -> Result<Vec<(i64, Result<ChangedJob>)>> {
        // Locked in the order that all transactions keep.
        let mut sorted: Vec<(TargetJob, &JobChange)> =
            changes.iter().map(|(job, change)| ((*job).into(), change)).collect();
        sorted.sort_by_key(|(job, _)| job.id);
        sorted.dedup_by_key(|(job, _)| job.id);
        let context = ChangeContext { now, actor, delayed: &[] };
        let mut outcomes = Vec::with_capacity(sorted.len());
        for slice in sorted.chunks(SLICE) {
            match self.change_together(slice, context).await {
                Ok(changed) => outcomes.extend(slice.iter().zip(changed).map(|((job, _), done)| (job.id, Ok(done)))),
                Err(error) if error.is_transient() => return Err(error),
                Err(_) => {
                    for (job, change) in slice {
                        outcomes.push((job.id, self.change(*job, change, now, actor).await));
                    }
                }
            }
        }
        Ok(outcomes)
    }

    /// All or none.
    async fn change_together(
        self,
        changes: &[(TargetJob, &JobChange)],
        context: ChangeContext<'_>,
    ) -> Result<Vec<ChangedJob>> {
        let deleted = changes.iter().filter(|(_, change)| matches!(change, JobChange::Delete));
        let deleted: Vec<i64> = deleted.map(|(job, _)| job.id).collect();
        // Before the transaction, which has the job locked.
        let mut delayed = vec![];
        for job_id in &deleted {
            delayed.push((*job_id, self.delayed().count_of(*job_id).await?));
        }
        let context = ChangeContext { delayed: &delayed, ..context };
        // One parent may be a parent of several of them.
        let of_parents = self.parents_of(&deleted).await?.len() * deleted.len();
        let rows = self.take_ids(&ids::ROW, 2 * changes.len() + of_parents).await?;
        let mut run_ids = vec![];
        for _ in 0..TRIES {
            match retry::on_conflict(|| self.try_change(changes, context, &run_ids, &rows)).await? {
                Ok(changed) => {
                    self.delayed().discard_some_of(&deleted).await;
                    return Ok(changed);
                }
                Err(needed) => run_ids = self.take_ids(&ids::RUN, 2 * needed + 10).await?,
            }
        }
        Err(Error::Busy)
    }

    /// The inner error: the number of run ids that are needed; the transaction was rolled back.
    async fn try_change(
        self,
        changes: &[(TargetJob, &JobChange)],
        context: ChangeContext<'_>,
        run_ids: &[i64],
        rows: &[i64],
    ) -> Result<std::result::Result<Vec<ChangedJob>, usize>> {
        let tx = self.begin_change().await?;
        let (mut changed, mut used) = (Vec::with_capacity(changes.len()), 0);
        let (rows, mut parents) = rows.split_at(2 * changes.len());
        for ((job, change), rows) in changes.iter().zip(rows.chunks_exact(2)) {
            let mut taken = TakenIds { runs: &run_ids[used..], rows: [rows[0], rows[1]], parents };
            match self.change_in(&tx, *job, change, context, &mut taken).await? {
                Attempt::Done(job) => changed.push(*job),
                Attempt::NeedsRuns(count) => return Ok(Err(used + count)),
            }
            used = run_ids.len() - taken.runs.len();
            parents = taken.parents;
        }
        tx.commit().await?;
        Ok(Ok(changed))
    }

    async fn change_in(
        self,
        tx: &Transaction,
        job: TargetJob,
        change: &JobChange,
        context: ChangeContext<'_>,
        ids: &mut TakenIds<'_>,
    ) -> Result<Attempt> {
        let (ChangeContext { now, actor, .. }, id) = (context, job.id);
        let mut old = self.lock_job(tx, job).await?;
        if let JobChange::Define(_, Some(expected)) = change
            && *expected != old.revision
        {
            return Err(Error::Changed(format!("job {id} has revision {} by now", old.revision)));
        }
        if matches!(change, JobChange::Delete) {
            self.refuse_if_used(tx, id).await?;
        }
        // Before any run is locked, as everywhere.
        let parents = match change {
            JobChange::Delete => self.lock_parents(tx, id).await?,
            _ => vec![],
        };
        // A parent more than before the transaction.
        let (own_parents, others) = ids.parents.split_at_checked(parents.len()).ok_or(Error::Busy)?;
        ids.parents = others;
        let unchanged = |old| Ok(Attempt::Done(Box::new(ChangedJob::unchanged(old))));
        let renewal = match change {
            JobChange::Calendars => self.calendars().newer_calendars(tx, &old).await?,
            JobChange::ZoneData => {
                self.calendars().has_other_next_fire(tx, &old, now).await?.then(|| old.calendars.clone())
            }
            _ => None,
        };
        // A success, or a person who resumed it, may have come since the job was found.
        let failures = match change {
            JobChange::PauseFailing => match self.failures_to_pause(tx, id).await? {
                None => return unchanged(old),
                failures => failures,
            },
            _ => None,
        };
        // What is due by now may be recorded only together with a new cursor: the other changes of the transaction are committed.
        if change.is_without_effect(&old, renewal.as_ref()) {
            return unchanged(old);
        }
        let overdue = OverdueInstants::of(&old, now);
        let Some((own, others)) = ids.runs.split_at_checked(overdue.runs()) else {
            return Ok(Attempt::NeedsRuns(overdue.runs()));
        };
        ids.runs = others;
        self.record_overdue(tx, &old, &overdue, own).await?;
        old.fires_left = old.fires_left.map(|left| left - overdue.runs() as i32);
        let prepared = Prepared { overdue, renewal, failures, parents, parent_entries: own_parents };
        let Some((action, new)) = self.apply_change(tx, &mut old, change, &prepared, context).await? else {
            return unchanged(old);
        };
        let mut detail = change.audit_detail(&old, &new);
        if matches!(change, JobChange::Delete) {
            let count = context.delayed.iter().find(|(job_id, _)| *job_id == id).map_or(0, |(_, count)| *count);
            if count > 0 {
                detail["delayed"] = count.into();
            }
        }
        let entry = AuditEntry::new(actor, now, action, AuditObject::job(id, old.app_id), detail);
        self.audit().insert(tx, vec![entry], &ids.rows[..1]).await?;
        let alarm = match (&change, &new.paused_reason) {
            (JobChange::PauseFailing, Some(reason)) => {
                let alarm = Alarm { kind: AlarmKind::Paused, job_id: Some(id), run_id: None, text: reason.clone() };
                Some(self.alarms().raise(tx, ids.rows[1], alarm, now).await?)
            }
            _ => None,
        };
        Ok(Attempt::Done(Box::new(ChangedJob { job: new, alarm, is_changed: true })))
    }

    /// Writes what becomes of the job; None: it stays as it is.
    async fn apply_change(
        self,
        tx: &Transaction,
        old: &mut Job,
        change: &JobChange,
        prepared: &Prepared<'_>,
        context: ChangeContext<'_>,
    ) -> Result<Option<(AuditAction, Job)>> {
        let (now, id) = (context.now, old.id);
        let Prepared { overdue, renewal, failures, parents, parent_entries } = prepared;
        let calendars = || renewal.clone().unwrap_or_default();
        Ok(Some(match change {
            JobChange::Define(definition, _) => {
                (AuditAction::Update, self.apply_definition(tx, old, definition, overdue, context).await?)
            }
            JobChange::Calendars => {
                (AuditAction::Calendars, self.refresh_calendars(tx, old, calendars(), overdue, now).await?)
            }
            JobChange::ZoneData => {
                (AuditAction::ZoneData, self.refresh_calendars(tx, old, calendars(), overdue, now).await?)
            }
            JobChange::Enable => (AuditAction::Enable, self.enable(tx, old, now).await?),
            JobChange::EndOfPause => match self.ended_pause(tx, id, now).await? {
                Some(resume_from_at) => {
                    old.resume_from_at = resume_from_at.or(old.resume_from_at);
                    (AuditAction::Enable, self.enable(tx, old, now).await?)
                }
                None => return Ok(None),
            },
            JobChange::Pause(note) => match self.pause_job(tx, old, overdue, note, context).await? {
                Some(new) => (AuditAction::Disable, new),
                None => return Ok(None),
            },
            JobChange::PauseFailing => {
                let failures = failures.unwrap_or_default();
                (AuditAction::Pause, self.pause_failing(tx, old, overdue, failures, now).await?)
            }
            JobChange::Delete => {
                self.leave_parents(tx, id, parents, parent_entries, context).await?;
                (AuditAction::Delete, self.apply_deletion(tx, old, now).await?)
            }
        }))
    }
}
