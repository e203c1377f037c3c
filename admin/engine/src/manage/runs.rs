//! What people do with a run: end it, set its outcome. Its log is read by [`run_log`](crate::run_log).

use std::collections::BTreeSet;

use carillon_accounts::policy::Action;
use carillon_scheduler::{FieldError, Millis, Outcome, RunEvent, RunReason, RunState};
use carillon_store::run::settle::by_hand::ByHand;
use carillon_store::run::settle::finding::{RunReport, SettleContext};
use carillon_store::run::trigger::delayed::change::TargetTrigger;
use carillon_store::views::DelayedStore;
use carillon_store::{Actor, RunView, ScheduledRun};

use crate::manage::entry_points::Runs;
use crate::manage::error::Error;
use crate::manage::jobs::DueTime;
use crate::manage::run_killer::KillResult;
use crate::runtime::Service as _;

/// Longest note on an outcome that is set by hand, in characters.
pub const NOTE_CHARS: usize = 500;

/// A run, or one that is scheduled.
#[derive(Debug)]
pub enum FoundRun {
    Run(Box<RunView>),
    Scheduled(Box<ScheduledRun>),
}

impl Runs<'_> {
    /// The number of a delayed trigger stands for its run, which has another one.
    ///
    /// # Errors
    /// `Missing`
    pub async fn get(&self, id: i64) -> Result<RunView, Error> {
        let run_id = self.run_id_of(id).await?;
        self.engine.cx.store.runs().get(run_id).await?.ok_or_else(|| Error::missing("run", id))
    }

    /// The run for which a number stands: its own, or that of its trigger. What waits, or is gone, keeps its number.
    pub(crate) async fn run_id_of(&self, id: i64) -> Result<i64, Error> {
        match DelayedStore::is_trigger(id) {
            true => Ok(self.engine.cx.store.delayed().run_of(id).await?.unwrap_or(id)),
            false => Ok(id),
        }
    }

    /// The same, also of a run that is scheduled.
    ///
    /// # Errors
    /// `Missing`
    pub async fn find(&self, id: i64) -> Result<FoundRun, Error> {
        if let Some(run) = self.engine.cx.store.runs().get(id).await? {
            return Ok(FoundRun::Run(Box::new(run)));
        }
        // A trigger is looked for before its run: it may be released in between.
        match self.engine.cx.store.delayed().get(id).await? {
            Some(scheduled) => Ok(FoundRun::Scheduled(Box::new(scheduled))),
            None => Ok(FoundRun::Run(Box::new(self.get(id).await?))),
        }
    }

    /// Gives a run that is scheduled another time.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Invalid`: the time; `NotScheduled`: its time has come
    pub async fn move_scheduled(&self, id: i64, at: Millis, by: &Actor) -> Result<(), Error> {
        let app_id = self.engine.require_for_run(by, Action::Operate, id).await?;
        let now = self.engine.cx.clock.now();
        let due_at = DueTime::At(at).resolve(now).map_err(|fault| Error::Invalid(vec![fault]))?;
        match self.engine.cx.store.delayed().move_to(TargetTrigger::of_app(id, app_id), due_at, now, by).await? {
            Some(shard) => {
                self.engine.delayed_changed(shard, [due_at]);
                Ok(())
            }
            None => Err(Error::NotScheduled(self.get(id).await?.state)),
        }
    }

    /// What is wrong with a note on an outcome.
    ///
    /// # Errors
    /// Names the member `note`.
    pub fn check_note(note: &str) -> Result<(), FieldError> {
        match (1..=NOTE_CHARS).contains(&note.trim().chars().count()) {
            true => Ok(()),
            false => Err(FieldError::new("note", format!("1 to {NOTE_CHARS} characters: how you know"))),
        }
    }

    /// Asks for the end of a run. A stock executor ends everything that it has of the same job.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Executor`: it cannot be asked, or refuses
    pub async fn kill(&self, run_id: i64, by: &Actor) -> Result<KillResult, Error> {
        self.engine.require_for_run(by, Action::Operate, run_id).await?;
        match self.engine.killer.kill(run_id, Some(by)).await {
            Err(Error::Missing(_)) => match self.cancel_scheduled(run_id, by).await {
                Ok(()) => Ok(KillResult::Cancelled),
                Err(Error::NotScheduled(_)) => {
                    let run_id = self.get(run_id).await?.id;
                    self.engine.killer.kill(run_id, Some(by)).await
                }
                Err(error) => Err(error),
            },
            other => other,
        }
    }

    /// Cancels a run that is scheduled. One whose time has come goes on.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `NotScheduled`: its time has come
    pub async fn cancel_scheduled(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let app_id = self.engine.require_for_run(by, Action::Operate, id).await?;
        let (trigger, now) = (TargetTrigger::of_app(id, app_id), self.engine.cx.clock.now());
        match self.engine.cx.store.delayed().cancel(trigger, now, by).await? {
            Some(_) => Ok(()),
            None => Err(Error::NotScheduled(self.get(id).await?.state)),
        }
    }

    /// Sets the outcome of a run that is `unknown` or `lost`: a person's statement counts as evidence. The audit keeps who said
    /// it, and how they know.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Invalid`: the note; `NotOpen`
    pub async fn resolve(&self, run_id: i64, outcome: Outcome, note: &str, by: &Actor) -> Result<(), Error> {
        self.engine.require_for_run(by, Action::Operate, run_id).await?;
        let run_id = self.run_id_of(run_id).await?;
        let engine = self.engine;
        let note = note.trim();
        Self::check_note(note).map_err(|error| Error::Invalid(vec![error]))?;
        let state = engine.killer.run_location(run_id).await?.state;
        if !matches!(state, RunState::Unknown | RunState::Lost) {
            return Err(Error::NotOpen(state));
        }
        let changed = self.settle_by_hand(&[run_id], outcome, note, by).await?;
        match changed.is_empty() {
            // A report came first, or another person.
            true => Err(Error::NotOpen(engine.killer.run_location(run_id).await?.state)),
            false => Ok(()),
        }
    }

    /// Sets the outcome of these runs, and answers those that had none.
    pub(super) async fn settle_by_hand(
        &self,
        runs: &[i64],
        outcome: Outcome,
        note: &str,
        by: &Actor,
    ) -> Result<BTreeSet<i64>, Error> {
        let engine = self.engine;
        let word = if outcome == Outcome::Succeeded { "succeeded" } else { "failed" };
        let detail = serde_json::json!({"outcome": word, "note": note});
        let message = format!("resolved by hand: {note}");
        let found = |run_id: &i64| {
            RunReport::internal(*run_id, RunEvent::Reported(outcome), RunReason::Operator, message.clone())
        };
        let reports: Vec<_> = runs.iter().map(found).collect();
        let follow_up = SettleContext { now: engine.cx.clock.now(), jitter: rand::random(), restored: false };
        let said = ByHand { actor: by, detail: &detail };
        let settled = engine.cx.store.runs().settle_by_hand(&reports, &follow_up, said).await?;
        engine.services.completer.effects.apply(&reports, &settled);
        // The person sees what has followed.
        engine.services.advancer.step().await;
        Ok(settled.changed.into_iter().map(|(run_id, _)| run_id).collect())
    }
}
