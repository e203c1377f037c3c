//! What people do with the run of a workflow: hold it, decide about its nodes, repeat it.

use carillon_accounts::policy::{self, Action, Object};
use carillon_scheduler::FieldError;
use carillon_scheduler::workflow::RerunFrom;
use carillon_store::Actor;
use carillon_store::workflow::action::WorkflowAction;
use carillon_store::workflow::view::WorkflowView;

use crate::manage::entry_points::Runs;
use crate::manage::error::Error;
use crate::runtime::Service as _;

/// Bytes of a result that a person gives: what a node's parameters may have.
const MOST_RESULT: usize = 65_536;

impl Runs<'_> {
    /// The progress of a workflow as this person may see it. None: the run is of no workflow, or has not begun.
    ///
    /// # Errors
    /// The database.
    pub async fn workflow(&self, run_id: i64, by: &Actor) -> Result<Option<WorkflowView>, Error> {
        let run_id = self.run_id_of(run_id).await?;
        let mut view = self.engine.cx.store.workflows().view(run_id).await?;
        for node in view.iter_mut().flat_map(|view| &mut view.nodes) {
            // Of a deleted job the app is not known.
            let object = node.app_id.map_or(Object::Installation, Object::App);
            if !policy::may(by, Action::View, object) {
                node.hide();
            }
        }
        Ok(view)
    }

    /// Decides something about a run on its way.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: no run of a workflow, or no such node; `Invalid`: not in its present state, or the result is too long
    pub async fn decide(&self, run_id: i64, action: &WorkflowAction, by: &Actor) -> Result<(), Error> {
        self.engine.require_for_run(by, Action::Operate, run_id).await?;
        let run_id = self.run_id_of(run_id).await?;
        if let WorkflowAction::Succeed { result: Some(result), .. } = action
            && result.len() > MOST_RESULT
        {
            let message = format!("has {} bytes; at most {MOST_RESULT} are allowed", result.len());
            return Err(Error::Invalid(vec![FieldError::new("result", message)]));
        }
        let engine = self.engine;
        let shards = engine.cx.store.workflows().decide(run_id, action, engine.cx.clock.now(), by).await?;
        shards.into_iter().for_each(|shard| engine.job_changed(shard));
        // The person sees what has followed.
        engine.services.advancer.followed.add(&[run_id]);
        engine.services.advancer.step().await;
        Ok(())
    }

    /// Repeats an ended run of a workflow as the next attempt of its fire. Answers the new run.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Invalid`: it has not ended, or was repeated already
    pub async fn rerun_workflow(&self, run_id: i64, from: &RerunFrom, by: &Actor) -> Result<i64, Error> {
        self.engine.require_for_run(by, Action::Operate, run_id).await?;
        let run_id = self.run_id_of(run_id).await?;
        let engine = self.engine;
        let (id, shard) = engine.cx.store.workflows().rerun(run_id, from, engine.cx.clock.now(), by).await?;
        engine.job_changed(shard);
        Ok(id)
    }
}
