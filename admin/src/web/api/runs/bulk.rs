//! `/runs/bulk`: one action for many runs.

use carillon_engine::manage::RunAction;
use carillon_scheduler::Cause;
use utoipa::openapi::ObjectBuilder;

use super::list::RunFilterRequest;
use super::one::parse_outcome;
use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Key, request};
use crate::web::api::jobs::{BulkView, action_schema, carry_out, needed, refuse_others, selection, unknown_action};
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
    carry_out(&state, (&caller, &key), action, selection, (request.count, request.dry_run)).await
}

impl RunBulk {
    fn action(&self) -> Result<RunAction, Error> {
        let members: [(_, _, &[&str]); 3] = [
            ("outcome", self.outcome.is_some(), &["resolve"]),
            ("note", self.note.is_some(), &["resolve"]),
            ("repeated", self.repeated, &["rerun"]),
        ];
        refuse_others(&self.action, &members)?;
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
