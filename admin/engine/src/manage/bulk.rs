//! One action for many objects: which, the loop over them, and what became of each.

use std::collections::BTreeSet;

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_scheduler::AuditObjectKind;
use carillon_store::run::trigger::{NewTrigger, TriggerResult, TriggeredRun};
use carillon_store::{Actor, AuditObject};
use foldhash::HashMap;

use crate::engine::Engine;
use crate::manage::error::Error;

/// Objects of one request.
pub const MOST_SELECTED: u32 = 10_000;
/// Objects that are read, checked and changed together. The store writes them in transactions of fewer.
pub(super) const SLICE: usize = 200;

/// Which objects; a filter's order and pages do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection<F> {
    Ids(Vec<i64>),
    Filter(F),
}

/// An action for many objects of one kind.
pub trait BulkAction: Sized {
    type Filter;

    /// Whether each object gets a run, which counts against the actor's limit.
    fn starts_runs(&self) -> bool;

    /// The action with its texts in order.
    ///
    /// # Errors
    /// `Invalid`: a member of the action; `Forbidden`: the app to move to
    fn check(self, engine: &Engine, by: &Actor) -> impl Future<Output = Result<Self, Error>>;

    /// The objects that match a filter and that the actor sees, at most one more than [`MOST_SELECTED`].
    fn matching(
        &self,
        engine: &Engine,
        filter: &Self::Filter,
        by: &Actor,
    ) -> impl Future<Output = Result<Vec<i64>, Error>>;

    /// Does it with each object for which the actor may do it, in slices of `SLICE`, and refuses the others.
    fn apply(&self, bulk: &mut Bulk<'_>, ids: &[i64]) -> impl Future<Output = Result<(), Error>>;
}

/// A request for many objects.
pub struct BulkRequest<'a, A: BulkAction> {
    pub selection: &'a Selection<A::Filter>,
    pub action: A,
    /// How many objects the caller has seen and confirmed; None: it does not matter.
    pub expected: Option<usize>,
    /// A repeated request with the same key starts a run for each object once.
    pub idempotency_key: Option<&'a str>,
}

/// A request that is being carried out.
pub struct Bulk<'a> {
    pub(super) engine: &'a Engine,
    pub(super) by: &'a Actor,
    pub(super) key: Option<&'a str>,
    /// The objects were selected by a filter, not one by one.
    pub(super) is_filtered: bool,
    pub(super) outcome: BulkOutcome,
}

impl Engine {
    /// The ids of a selection, at most one more than [`MOST_SELECTED`].
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn selected<A: BulkAction>(
        &self,
        selection: &Selection<A::Filter>,
        action: &A,
        by: &Actor,
    ) -> Result<Vec<i64>, Error> {
        match selection {
            Selection::Ids(ids) => Ok(ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()),
            Selection::Filter(filter) => action.matching(self, filter, by).await,
        }
    }

    /// Does something with each selected object for which the actor may do it, and says why it did not with the others. The
    /// objects are changed in slices: what is done stays done, if the database fails on the way.
    ///
    /// # Errors
    /// `Invalid`: a member of the action, too many objects; `Forbidden`: the app to move to; `Changed`: another number of objects
    pub async fn do_with_all<A: BulkAction>(
        &self,
        request: BulkRequest<'_, A>,
        by: &Actor,
    ) -> Result<BulkOutcome, Error> {
        let action = request.action.check(self, by).await?;
        let _place = self.costly.enter(by).await?;
        let ids = self.selected(request.selection, &action, by).await?;
        check_count(ids.len(), request.expected)?;
        if action.starts_runs() {
            self.costly.count_runs(ids.len(), by)?;
        }
        let outcome = BulkOutcome { matched: ids.len(), ..BulkOutcome::default() };
        let is_filtered = matches!(request.selection, Selection::Filter(_));
        let mut bulk = Bulk { engine: self, by, key: request.idempotency_key, is_filtered, outcome };
        action.apply(&mut bulk, &ids).await?;
        bulk.outcome.refused.sort_by_key(|refusal| refusal.id);
        Ok(bulk.outcome)
    }
}

/// What became of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BulkOutcome {
    /// Objects that were selected.
    pub matched: usize,
    pub done: usize,
    /// By id.
    pub refused: Vec<Refusal>,
}

/// An object that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub id: i64,
    pub reason: String,
}

impl Bulk<'_> {
    pub(super) fn refuse(&mut self, id: i64, reason: impl Into<String>) {
        self.outcome.refused.push(Refusal { id, reason: reason.into() });
    }

    /// Those that the actor may do this with; the others are refused. `apps`: the app of each that exists.
    pub(super) fn permitted(
        &mut self,
        ids: &[i64],
        apps: &HashMap<i64, i64>,
        (action, kind): (Action, AuditObjectKind),
    ) -> Vec<i64> {
        let mut permitted = Vec::with_capacity(ids.len());
        for id in ids {
            let app = apps.get(id).copied();
            let object = app.map(Object::App);
            match object.map(|object| (object, policy::decide(self.by, action, object))) {
                Some((_, Decision::Allowed)) => {
                    permitted.push(*id);
                    continue;
                }
                Some((object, Decision::Forbidden)) => self.refuse(*id, policy::refusal(action, object)),
                // As if it did not exist.
                Some((_, Decision::Hidden)) | None => self.refuse(*id, format!("there is no {kind} {id}")),
            }
            if app.is_some() {
                self.by.denials.add(AuditObject { app_id: app, ..AuditObject::new(kind, *id) });
            }
        }
        permitted
    }

    /// Starts runs. Without its job, a trigger is refused under the run that it repeats, else under the job.
    pub(super) async fn start_each(&mut self, triggers: &[NewTrigger]) -> Result<(), Error> {
        let cx = &self.engine.cx;
        let made = cx.store.runs().insert_triggered_all(triggers, cx.clock.now(), self.by).await?;
        for (trigger, made) in triggers.iter().zip(made) {
            let job = trigger.job.id;
            match (made, trigger.rerun_of) {
                (Some(TriggeredRun { run_id, found: TriggerResult::OtherRerun, .. }), Some(run)) => {
                    self.refuse(run, format!("run {run_id} has run it again at this moment"));
                }
                (Some(made), _) => {
                    self.outcome.done += 1;
                    self.engine.job_changed(made.shard);
                }
                (None, Some(run)) => self.refuse(run, without_job(job)),
                (None, None) => self.refuse(job, format!("there is no job {job}")),
            }
        }
        Ok(())
    }
}

/// The reason where a run cannot be run again; also where the actor may not know the job.
pub(super) fn without_job(job: i64) -> String {
    format!("its job {job} is deleted")
}

/// `expected`: how many the caller has seen and confirmed.
///
/// # Errors
/// `Invalid`: too many. `Changed`: the number is another one by now.
fn check_count(count: usize, expected: Option<usize>) -> Result<(), Error> {
    if count > MOST_SELECTED as usize {
        let text = format!("selects more than {MOST_SELECTED} objects; narrow it, and repeat the action for the rest");
        return Err(Error::field("filter", text));
    }
    match expected {
        Some(expected) if expected != count => {
            Err(Error::Changed(format!("{expected} objects were confirmed, and the selection has {count} by now")))
        }
        _ => Ok(()),
    }
}
