//! `/limits`: how many runs are at work together.

use actix_web::web::Json;
use carillon_engine::manage::{LimitLine, LimitUse};
use carillon_scheduler::LimitDraft;
use carillon_store::app::limits::line::{SlotHolder, WaitingRun};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, Parsed, ReadOnly, RequestBody, edited, parse};
use crate::web::api::view::{IntoView, List, Time, view};
use crate::web::state::Shared;

/// The members of [`LimitDraft`].
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct LimitMembers {
    /// Jobs name the limit by this: letters, digits, `-`, `_` and `.`; it does not change
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// The app whose jobs may use it; null: it is shared by the jobs of all apps. It does not change
    #[schema(default = json!(null), required = false)]
    app: Option<String>,
    /// How many runs may be at work together, with a key for each of its values
    #[schema(minimum = 1, maximum = 10_000)]
    max: i32,
    /// The path of a member of the parameters, as `customer.id`: each of its values has slots of its own. Empty: there is one set of slots
    #[schema(max_length = 200, default = "", required = false)]
    key: String,
    /// It holds for all jobs of its app, also for those that do not name it
    #[schema(default = false, required = false)]
    all_jobs: bool,
    /// What it is for
    #[schema(max_length = 1_000, default = "", required = false)]
    description: String,
}

view! {
    /// A limit of how many runs are at work together
    pub struct LimitView as Limit from limit: LimitUse {
        /// Its number
        #[schema(minimum = 1)]
        id: i64 = limit.rule.id,
        /// Jobs name it by this
        name: String = limit.rule.name,
        /// The app whose jobs may use it; null: it is shared
        app: Option<String> = limit.app,
        /// How many runs may be at work together, with a key for each of its values
        #[schema(minimum = 1)]
        max: i32 = limit.rule.max_runs,
        /// The path of a member of the parameters whose values have slots of their own; empty: there is one set of slots
        key: String = limit.rule.key_path,
        /// It holds for all jobs of its app
        all_jobs: bool = limit.rule.all_jobs,
        /// What it is for
        description: String = limit.rule.description,
        /// How many runs have a slot
        #[schema(minimum = 0)]
        taken: i64 = limit.taken,
        /// Grows with each change
        #[schema(minimum = 1)]
        version: i64 = limit.rule.version,
        /// When it was created
        created_at: Time = Time(limit.rule.created_at),
        /// When it was changed last
        updated_at: Time = Time(limit.rule.updated_at),
    }
}

view! {
    /// A run that has a slot
    struct HolderView as LimitHolder from holder: SlotHolder {
        /// The run
        #[schema(minimum = 1)]
        run_id: i64,
        /// Its job
        #[schema(minimum = 1)]
        job_id: i64,
        /// Since when it has the slot
        since: Time = Time(holder.taken_at),
    }
}

view! {
    /// A run that waits for a slot
    struct WaitingView as LimitWaiting from run: WaitingRun {
        /// The run
        #[schema(minimum = 1)]
        run_id: i64,
        /// Its job
        #[schema(minimum = 1)]
        job_id: i64,
        /// When it was due
        due_at: Time,
        /// Its head start, in seconds
        priority: i32,
    }
}

/// A limit, who has its slots, and who waits for one: at most 100 of each, of apps that the caller sees
#[derive(Serialize, ToSchema)]
#[schema(as = LimitLine)]
pub struct LimitLineView {
    #[serde(flatten)]
    limit: LimitView,
    /// Those that have had their slots longest first
    holders: Vec<HolderView>,
    /// In their order as if all were of one app; apps take turns. A run is here when it has waited for about a second
    waiting: Vec<WaitingView>,
}

const READ_ONLY: ReadOnly =
    ReadOnly { revision: "version", ignored: &["id", "taken", "holders", "waiting", "created_at", "updated_at"] };

edited!(LimitUpdate: "limit" of LimitMembers, READ_ONLY, "the whole limit",
    "The whole limit; an answer may be changed and sent back");

pub async fn list(state: Shared, caller: Caller) -> Answer<List<LimitView>> {
    let limits = state.engine.run_limits().list(&caller.0).await?;
    Ok(Json(List::whole(limits.into_iter().map(LimitView::from))))
}

pub async fn get(state: Shared, id: Id, caller: Caller) -> Answer<LimitLineView> {
    let limits = state.engine.run_limits();
    let limit = limits.get(id.0, &caller.0).await?;
    let LimitLine { holders, waiting } = limits.line(&limit.rule, &caller.0).await?;
    Ok(Json(LimitLineView { limit: limit.into(), holders: holders.into_view(), waiting: waiting.into_view() }))
}

/// A new limit.
pub struct NewLimit(LimitDraft);

impl RequestBody for NewLimit {
    type Schema = LimitMembers;
    const WHAT: &'static str = "a limit, such as {\"name\":\"db-export\",\"app\":\"billing\",\"max\":2}";

    fn read(value: Value) -> Result<Self, Error> {
        draft(value).map(Self)
    }
}

pub async fn create(state: Shared, caller: Caller, body: Body<NewLimit>) -> Result<Created<LimitView>, Error> {
    let made = state.engine.run_limits().create(body.0.0, &caller.0).await?;
    Ok(Created::new(made))
}

pub async fn update(state: Shared, id: Id, caller: Caller, body: Body<LimitUpdate>) -> Answer<LimitView> {
    let limits = state.engine.run_limits();
    // A limit that does not exist is reported before anything else.
    let old = limits.get(id.0, &caller.0).await?;
    let LimitUpdate { mut value, revision } = body.0;
    if let Some(members) = value.as_object_mut() {
        members.entry("name").or_insert_with(|| old.rule.name.as_str().into());
        members.entry("app").or_insert_with(|| old.app.clone().into());
    }
    Ok(Json(limits.update(id.0, draft(value)?, revision, &caller.0).await?.into()))
}

pub async fn delete(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.run_limits().delete(id.0, &caller.0).await?;
    Ok(NoContent)
}

fn draft(value: Value) -> Result<LimitDraft, Error> {
    if !value.is_object() {
        return Err(Error::invalid("must be a limit as an object"));
    }
    let read: Parsed<LimitDraft> = parse(value);
    let faults = read.faults;
    read.value.filter(|_| faults.is_empty()).ok_or_else(|| Error::all(faults))
}
