//! What each change of a job writes, inside its transaction, with the job locked.

use carillon_scheduler::{Millis, RunReason};

use crate::calendar::pinned::Calendars;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::job::change::ChangeContext;
use crate::job::lock::OverdueInstants;
use crate::job::pause::{ENGINE, JobPause, PauseNote};
use crate::job::stored_job::{Definition, Job};
use crate::views::JobStore;

impl JobStore<'_> {
    pub(crate) async fn apply_definition(
        self,
        tx: &Transaction,
        old: &Job,
        definition: &Definition,
        overdue: &OverdueInstants,
        context: ChangeContext<'_>,
    ) -> Result<Job> {
        let ChangeContext { now, actor, .. } = context;
        let mut new = Job {
            app_id: definition.app_id,
            draft: definition.draft.clone(),
            anchor_at: definition.anchor_after(old),
            spread_offset: definition.spread_offset,
            calendars: definition.calendars.clone(),
            fires_left: fires_left_after(old, definition),
            // A cursor that lies ahead has its instants recorded already: they go, and the schedule starts afresh.
            resume_from_at: resume_point(old, overdue).filter(|at| *at <= now),
            ..old.clone()
        };
        if old.draft.enabled && !new.draft.enabled {
            self.cancel_claimed(tx, old, RunReason::Disabled, now).await?;
        } else {
            let deleted = self.delete_future_runs(tx, old.id, now).await?;
            new.give_back_fires(deleted.len());
        }
        if old.app_id != new.app_id {
            self.apps().hold_app(tx, new.app_id).await?;
            self.move_claimed(tx, &new).await?;
        }
        if new.draft.enabled {
            self.set_cursor(tx, &mut new, !old.draft.enabled, now).await?;
            if !old.draft.enabled {
                self.drop_pause(tx, old.id).await?;
                new.pause = None;
            }
        } else {
            new.next_fire_at = None;
            if old.draft.enabled {
                let pause = JobPause { note: String::new(), author: actor.name.clone(), paused_at: now, ends_at: None };
                self.write_pause(tx, old.id, &pause, None).await?;
                new.pause = Some(pause);
            } else if new.full_schedule() != old.full_schedule() {
                let recorded = self.last_recorded(tx, old.id, now).await?.max(now);
                self.resume_no_earlier(tx, old.id, recorded + 1).await?;
            }
        }
        if (old.app_id, &old.draft.key) != (new.app_id, &new.draft.key) {
            self.refuse_taken_keys(tx, std::slice::from_ref(&new)).await?;
        }
        self.apply_script(tx, (old, &mut new), definition, context).await?;
        self.apply_workflow(tx, old, &mut new, now).await?;
        self.write_job(tx, old, &mut new, now).await?;
        self.calendars().write_calendars(tx, old, &new).await?;
        self.write_children(tx, old, &new).await?;
        self.write_labels(tx, old, &new).await?;
        self.write_parts(tx, old, &new, now).await?;
        // After the runs: a mark that has limits waits for no run.
        if (old.app_id, &old.draft.limits) != (new.app_id, &new.draft.limits) {
            self.limits().hold_named(tx, std::slice::from_ref(&new)).await?;
        }
        Ok(new)
    }

    pub(crate) async fn refresh_calendars(
        self,
        tx: &Transaction,
        old: &Job,
        calendars: Calendars,
        overdue: &OverdueInstants,
        now: Millis,
    ) -> Result<Job> {
        let mut new =
            Job { calendars, resume_from_at: resume_point(old, overdue).filter(|at| *at <= now), ..old.clone() };
        // One that cannot be planned is left to the engine, which says so.
        if new.draft.enabled && new.schedule().is_ok() {
            let deleted = self.delete_future_runs(tx, old.id, now).await?;
            new.give_back_fires(deleted.len());
            self.set_cursor(tx, &mut new, false, now).await?;
        }
        self.write_job(tx, old, &mut new, now).await?;
        self.calendars().write_calendars(tx, old, &new).await?;
        Ok(new)
    }

    pub(crate) async fn enable(self, tx: &Transaction, old: &Job, now: Millis) -> Result<Job> {
        let mut new = Job { pause: None, ..old.clone() };
        new.draft.enabled = true;
        self.set_cursor(tx, &mut new, true, now).await?;
        self.drop_pause(tx, old.id).await?;
        self.write_job(tx, old, &mut new, now).await?;
        Ok(new)
    }

    /// None: it is paused, nothing of it waited to be sent, and nothing new is noted.
    pub(crate) async fn pause_job(
        self,
        tx: &Transaction,
        old: &Job,
        overdue: &OverdueInstants,
        note: &PauseNote,
        ChangeContext { now, actor, .. }: ChangeContext<'_>,
    ) -> Result<Option<Job>> {
        // What is ahead and has the end of the pause to wait for is planned again then.
        let ahead = match note.ends_at {
            Some(_) if old.draft.enabled => self.delete_future_runs(tx, old.id, now).await?,
            _ => vec![],
        };
        let cancelled = self.cancel_claimed(tx, old, RunReason::Disabled, now).await?;
        if !old.draft.enabled && cancelled == 0 && *note == PauseNote::default() {
            return Ok(None);
        }
        let resume_from = match old.draft.enabled {
            true => ahead.iter().min().copied().or_else(|| first_unrecorded(old, overdue, now)),
            false => self.resume_point_of_pause(tx, old.id).await?.or(old.resume_from_at),
        };
        let PauseNote { note, ends_at } = note.clone();
        let mut new = stopped(old, overdue);
        new.give_back_fires(ahead.len());
        if old.draft.enabled || !note.is_empty() || ends_at.is_some() {
            let pause = JobPause { note, author: actor.name.clone(), paused_at: now, ends_at };
            self.write_pause(tx, old.id, &pause, resume_from).await?;
            new.pause = Some(pause);
        }
        self.write_job(tx, old, &mut new, now).await?;
        Ok(Some(new))
    }

    /// By the engine. The job has a reason, as one that cannot be planned: so it is on the dashboard, and the alarm stays open
    /// until it is resumed.
    pub(crate) async fn pause_failing(
        self,
        tx: &Transaction,
        old: &Job,
        overdue: &OverdueInstants,
        failures: i32,
        now: Millis,
    ) -> Result<Job> {
        self.cancel_claimed(tx, old, RunReason::Disabled, now).await?;
        let note = format!("{failures} fires in a row have failed");
        let pause = JobPause { note: note.clone(), author: ENGINE.to_owned(), paused_at: now, ends_at: None };
        self.write_pause(tx, old.id, &pause, None).await?;
        let mut new = Job { pause: Some(pause), paused_reason: Some(note), ..stopped(old, overdue) };
        self.write_job(tx, old, &mut new, now).await?;
        Ok(new)
    }

    pub(crate) async fn apply_deletion(self, tx: &Transaction, old: &Job, now: Millis) -> Result<Job> {
        self.cancel_claimed(tx, old, RunReason::Deleted, now).await?;
        self.drop_clock(tx, old).await?;
        self.calendars().drop_calendars(tx, old).await?;
        self.drop_children(tx, old.id).await?;
        self.drop_labels(tx, old.id).await?;
        self.drop_scripts(tx, old.id).await?;
        self.workflows().drop_graph(tx, old).await?;
        self.drop_parts(tx, old.id).await?;
        self.drop_pause(tx, old.id).await?;
        self.runs().keep_params(tx, old, now).await?;
        self.execute(tx, "DELETE FROM job_params WHERE job_id = ?", values![old.id]).await?;
        self.execute(tx, "DELETE FROM sticky WHERE job_id = ?", values![old.id]).await?;
        self.loops().forget(tx, old.id).await?;
        self.execute(tx, "DELETE FROM job WHERE id = ?", values![old.id]).await?;
        Ok(Job { next_fire_at: None, ..old.clone() })
    }
}

/// A job whose schedule does not fire.
fn stopped(old: &Job, overdue: &OverdueInstants) -> Job {
    let mut new = Job { resume_from_at: resume_point(old, overdue), next_fire_at: None, ..old.clone() };
    new.draft.enabled = false;
    new
}

/// Where a job goes on whose instants could not be planned, by the engine or just now.
fn resume_point(old: &Job, overdue: &OverdueInstants) -> Option<Millis> {
    match overdue {
        OverdueInstants::Unplannable => old.next_fire_at,
        OverdueInstants::Planned { .. } => old.resume_from_at,
    }
}

/// Its first instant without a record, when what is overdue has one.
fn first_unrecorded(old: &Job, overdue: &OverdueInstants, now: Millis) -> Option<Millis> {
    match overdue {
        OverdueInstants::Planned { .. } if old.next_fire_at.is_some_and(|next| next <= now) => {
            let schedule = old.schedule().ok().filter(|schedule| !schedule.is_delay())?;
            schedule.next_after(now)
        }
        _ => old.next_fire_at,
    }
}

/// Another schedule has all its fires before it; the same one goes on with those that are left.
fn fires_left_after(old: &Job, definition: &Definition) -> Option<i32> {
    match definition.draft.schedule == old.draft.schedule {
        true => old.fires_left,
        false => definition.spec.schedule.max_fires().map(u32::cast_signed),
    }
}
