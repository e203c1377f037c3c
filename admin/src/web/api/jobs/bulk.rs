//! `/jobs/bulk`: one action for many jobs.

use carillon_engine::manage::JobAction;
use carillon_scheduler::Cause;
use carillon_store::PauseNote;
use utoipa::openapi::ObjectBuilder;

use super::bulk_outcome::{BulkView, action_schema, carry_out, needed, refuse_others, selection, unknown_action};
use super::filter::JobFilterRequest;
use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Key, request};
use crate::web::api::view::Time;
use crate::web::state::Shared;

pub const ACTIONS: [&str; 7] = ["pause", "resume", "run", "move", "add_tag", "remove_tag", "delete"];

request! {
    /// One action for the jobs of `ids` or of `filter`
    pub struct JobBulk: "an action, such as {\"action\":\"pause\",\"filter\":{\"tag\":\"night\"},\"note\":\"deployment\"}" {
        #[schema(schema_with = actions)]
        action: String,
        /// These jobs
        #[schema(max_items = 10_000, min_items = 1)]
        ids: Option<Vec<i64>>,
        /// All jobs that match this, at most 10,000
        filter: Option<JobFilterRequest>,
        /// Of `pause`: why, for the others
        #[schema(max_length = 500)]
        note: Option<String>,
        /// Of `pause`: when the jobs are resumed; if left out, they stay paused until a person resumes them
        until: Option<Time>,
        /// Of `move`: the name of the app
        app: Option<String>,
        /// Of `add_tag` and `remove_tag`
        #[schema(min_length = 1, max_length = 32)]
        tag: Option<String>,
        /// The number of jobs that you have seen: nothing is done (409 `changed`) if another number is selected by now
        #[schema(minimum = 0)]
        count: Option<usize>,
        /// Nothing is done; the answer says how many jobs are selected
        #[serde(default)]
        #[schema(default = false, required = false)]
        dry_run: bool,
    }
}

fn actions() -> ObjectBuilder {
    action_schema(&ACTIONS)
}

pub async fn bulk(state: Shared, caller: Caller, key: Key, body: Body<JobBulk>) -> Answer<BulkView> {
    let request = body.0;
    let action = request.action()?;
    let filter = request.filter.map(|filter| filter.resolve(&state, &caller));
    let selection = selection(request.ids, filter).await?;
    carry_out(&state, (&caller, &key), action, selection, (request.count, request.dry_run)).await
}

impl JobBulk {
    fn action(&self) -> Result<JobAction, Error> {
        let members: [(_, _, &[&str]); 4] = [
            ("note", self.note.is_some(), &["pause"]),
            ("until", self.until.is_some(), &["pause"]),
            ("app", self.app.is_some(), &["move"]),
            ("tag", self.tag.is_some(), &["add_tag", "remove_tag"]),
        ];
        refuse_others(&self.action, &members)?;
        Ok(match self.action.as_str() {
            "pause" => {
                let note = self.note.clone().unwrap_or_default();
                JobAction::Pause(PauseNote { note, ends_at: self.until.as_ref().map(|until| until.0) })
            }
            "resume" => JobAction::Resume,
            "run" => JobAction::Run(Cause::Api),
            "move" => JobAction::Move(needed("app", self.app.as_ref())?),
            "add_tag" => JobAction::AddTag(needed("tag", self.tag.as_ref())?),
            "remove_tag" => JobAction::RemoveTag(needed("tag", self.tag.as_ref())?),
            "delete" => JobAction::Delete,
            other => return Err(unknown_action(other, &ACTIONS)),
        })
    }
}
