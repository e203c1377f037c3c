//! `/runs/{id}/workflow` and `/runs/{id}/rerun`: the run of a workflow.

use actix_web::web::Json;
use carillon_scheduler::workflow::RerunFrom;
use carillon_store::workflow::action::WorkflowAction;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, request};
use crate::web::api::view::{RunView, WorkflowProgressView};
use crate::web::state::{Shared, State};

pub async fn get(state: Shared, id: Id, caller: Caller) -> Answer<WorkflowProgressView> {
    progress(&state, id.0, &caller).await
}

/// Of a node whose app the caller may not see only name and state are shown.
async fn progress(state: &State, run_id: i64, caller: &Caller) -> Answer<WorkflowProgressView> {
    let view = state.engine.runs().workflow(run_id, &caller.0).await?;
    let view = view.ok_or_else(|| Error::not_found(format!("run {run_id} is of no workflow, or has not begun")))?;
    Ok(Json(view.into()))
}

const ACTIONS: [&str; 6] = ["hold", "release", "retry", "skip", "succeed", "fail"];
const FROM: [&str; 3] = ["failed", "node", "all"];

request! {
    /// What is decided about the run of a workflow that is on its way
    pub struct WorkflowDecision: "{\"action\":\"hold\"} or {\"action\":\"retry\",\"node\":\"load\"}" {
        #[schema(schema_with = actions)]
        action: String,
        /// The node, of all actions but `hold` and `release`
        node: Option<String>,
        /// Of `succeed`: what the node hands on
        #[schema(max_length = 65_536)]
        result: Option<String>,
    }
}

fn actions() -> ObjectBuilder {
    let text = "`hold`: nothing new starts, what runs goes on. `release`: it goes on. `retry`: another attempt of a node whose run has failed. \
                `skip`: a node that waits is left out. `succeed`: a node that waits or has failed counts as succeeded. `fail`: a node that \
                waits counts as failed";
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(ACTIONS)).description(Some(text))
}

impl WorkflowDecision {
    fn action(self) -> Result<WorkflowAction, Error> {
        let is_about_node = !matches!(self.action.as_str(), "hold" | "release");
        if self.node.is_some() && !is_about_node {
            return Err(Error::field("node", format!("does not belong to `{}`", self.action)));
        }
        if self.result.is_some() && self.action != "succeed" {
            return Err(Error::field("result", format!("does not belong to `{}`", self.action)));
        }
        let node = || self.node.clone().ok_or_else(|| Error::field("node", format!("`{}` needs it", self.action)));
        Ok(match self.action.as_str() {
            "hold" => WorkflowAction::Hold,
            "release" => WorkflowAction::Release,
            "retry" => WorkflowAction::Retry { node: node()? },
            "skip" => WorkflowAction::Skip { node: node()? },
            "succeed" => WorkflowAction::Succeed { node: node()?, result: self.result.clone() },
            "fail" => WorkflowAction::Fail { node: node()? },
            other => {
                let allowed = ACTIONS.join(", ");
                return Err(Error::field("action", format!("`{other}` is not an action; allowed: {allowed}")));
            }
        })
    }
}

pub async fn decide(
    state: Shared,
    id: Id,
    caller: Caller,
    body: Body<WorkflowDecision>,
) -> Answer<WorkflowProgressView> {
    let action = body.0.action()?;
    state.engine.runs().decide(id.0, &action, &caller.0).await?;
    progress(&state, id.0, &caller).await
}

request! {
    /// Which nodes of an ended run are repeated
    pub struct WorkflowRerun: "{\"from\":\"failed\"}" {
        #[schema(schema_with = places)]
        from: String,
        /// Of `node`: the node
        node: Option<String>,
    }
}

fn places() -> ObjectBuilder {
    let text = "`failed`: the nodes that failed or did not run for that reason, and all nodes behind them. `node`: the node and all behind it, \
                with the former ones. `all`: everything";
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(FROM)).description(Some(text))
}

impl WorkflowRerun {
    fn from(self) -> Result<RerunFrom, Error> {
        match (self.from.as_str(), self.node) {
            ("node", Some(node)) => Ok(RerunFrom::Node(node)),
            ("node", None) => Err(Error::field("node", "`node` needs it")),
            (_, Some(_)) => Err(Error::field("node", format!("does not belong to `{}`", self.from))),
            ("failed", None) => Ok(RerunFrom::Failed),
            ("all", None) => Ok(RerunFrom::All),
            (other, None) => {
                Err(Error::field("from", format!("`{other}` is not one of them; allowed: {}", FROM.join(", "))))
            }
        }
    }
}

pub async fn rerun(state: Shared, id: Id, caller: Caller, body: Body<WorkflowRerun>) -> Answer<RunView> {
    let from = body.0.from()?;
    let run_id = state.engine.runs().rerun_workflow(id.0, &from, &caller.0).await?;
    Ok(Json(state.engine.runs().get(run_id).await?.into()))
}
