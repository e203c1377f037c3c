//! `/runs/bulk`: one action for many runs.

use actix_web::web::Json;
use carillon_engine::manage::{RunAction, RunBulkRequest};
use carillon_scheduler::Cause;
use utoipa::openapi::ObjectBuilder;

use super::list::RunFilterRequest;
use super::one::parse_outcome;
use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Key, request};
use crate::web::api::jobs::{BulkView, action_schema, needed, refuse_others, selection, unknown_action};
use crate::web::state::Shared;

pub const ACTIONS: [&str; 3] = ["kill", "rerun", "resolve"];

request! {
    /// One action for the runs of `ids` or of `filter`
    pub struct RunBulk: "an action, such as {\"action\":\"rerun\",\"filter\":{\"state\":[\"failed\"],\"from\":\"2026-01-31T00:00:00Z\"}}" {
        #[schema(schema_with = actions)]
        action: String,
        /// These runs
        #[schema(max_items = 10_000, min_items = 1)]
        ids: Option<Vec<i64>>,
        /// All runs that match this, at most 10,000
        filter: Option<RunFilterRequest>,
        /// Of `resolve`: `succeeded` or `failed`
        outcome: Option<String>,
        /// Of `resolve`: how you know
        #[schema(min_length = 1, max_length = 500)]
        note: Option<String>,
        /// Of `rerun` with a filter: also the runs that were run again already
        #[serde(default)]
        #[schema(default = false, required = false)]
        repeated: bool,
        /// The number of runs that you have seen: nothing is done (409 `changed`) if another number is selected by now
        #[schema(minimum = 0)]
        count: Option<usize>,
        /// Nothing is done; the answer says how many runs are selected
        #[serde(default)]
        #[schema(default = false, required = false)]
        dry_run: bool,
    }
}

fn actions() -> ObjectBuilder {
    action_schema(&ACTIONS)
}

pub async fn bulk(state: Shared, caller: Caller, key: Key, body: Body<RunBulk>) -> Answer<BulkView> {
    let request = body.0;
    let action = request.action()?;
    let filter = request.filter.map(|filter| filter.resolve(&state, &caller));
    let selection = selection(request.ids, filter).await?;
    let runs = state.engine.runs();
    if request.dry_run {
        return Ok(Json(BulkView::dry(runs.selected(&selection, &action, &caller.0).await?.len())));
    }
    let request =
        RunBulkRequest { selection: &selection, action, expected: request.count, idempotency_key: key.0.as_deref() };
    Ok(Json(runs.do_with_all(request, &caller.0).await?.into()))
}

impl RunBulk {
    fn action(&self) -> Result<RunAction, Error> {
        let own: &[&str] = match self.action.as_str() {
            "resolve" => &["outcome", "note"],
            "rerun" => &["repeated"],
            _ => &[],
        };
        let members = [("outcome", self.outcome.is_some()), ("note", self.note.is_some()), ("repeated", self.repeated)];
        refuse_others(&self.action, own, &members)?;
        Ok(match self.action.as_str() {
            "kill" => RunAction::Kill,
            "rerun" => RunAction::Rerun { cause: Cause::Api, repeated: self.repeated },
            "resolve" => {
                let outcome = parse_outcome(&needed("outcome", self.outcome.as_ref())?)?;
                RunAction::Resolve { outcome, note: self.note.clone().unwrap_or_default() }
            }
            other => return Err(unknown_action(other, &ACTIONS)),
        })
    }
}
