//! What a definition will do: `/preview` of one that is not saved, `/jobs/{id}/next` of a job.

use actix_web::web::Json;
use carillon_accounts::policy::{self, Action, Object};
use carillon_engine::manage;
use carillon_inspect::preview::{self, ExcludedDay, Spread};
use carillon_scheduler::{Durability, JobDraft};
use carillon_store::Job;
use chrono::{NaiveDate, SecondsFormat};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::definition::draft;
use super::request::PreviewRequest;
use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, Query, RequestBody, from_json};
use crate::web::api::view::{IntoView, Time, view};
use crate::web::state::{Shared, State};

view! {
    /// What a schedule will do
    pub struct PreviewView as Preview from preview: preview::Preview {
        /// The same instants in the zone
        #[schema(value_type = Vec<DateTime<FixedOffset>>)]
        local: Vec<String> = {
            let local = |at: &i64| preview::local(*at, preview.zone).to_rfc3339_opts(SecondsFormat::AutoSi, false);
            preview.fires.iter().map(local).collect()
        },
        /// Earliest first
        items: Vec<Time> = preview.fires.into_view(),
        /// The zone of the schedule; UTC for kinds that have none
        #[schema(min_length = 1, max_length = 64)]
        timezone: &'static str = preview.zone.name(),
        /// There are no further instants
        ends: bool,
        spread: Option<SpreadView>,
        /// Excluded days up to the last of these instants, at most 50
        excluded: Vec<ExcludedDayView>,
        /// For people: what the clock changes of the coming year do, and more
        warnings: Vec<String> = preview.notes,
    }
}

view! {
    /// Which offset the spread gives to the job
    struct SpreadView as Spread from spread: Spread {
        /// The window
        seconds: u32,
        /// By how much every instant is moved
        offset_seconds: u32,
        /// For people
        why: String,
    }
}

view! {
    /// A day with instants that calendars exclude
    struct ExcludedDayView as ExcludedDay from day: ExcludedDay {
        /// In the zone of the schedule
        day: NaiveDate,
        /// Where its instants are moved; null: they are left out
        moved_to: Option<NaiveDate>,
        /// The calendars that exclude it
        calendars: Vec<String>,
    }
}

/// The number of instants of a job if the request has none.
pub const NEXT_INSTANTS: u32 = 5;
pub const MAX_INSTANTS: u32 = 1000;

/// The instants that the schedule has from now on, whether the job is enabled or not.
pub async fn next(state: Shared, id: Id, query: Query) -> Answer<PreviewView> {
    let count = query.number("count", NEXT_INSTANTS, MAX_INSTANTS)? as usize;
    let from = query.time("from")?;
    Ok(Json(state.engine.jobs().next_fires(id.0, from, count).await?.into()))
}

/// The members of a preview that are not members of a job.
#[derive(Deserialize)]
struct Options {
    #[serde(default = "ten")]
    count: u32,
    from: Option<Time>,
    job_id: Option<i64>,
}

const fn ten() -> u32 {
    10
}

/// A whole job, or its schedule alone.
pub struct Preview {
    options: Options,
    members: Map<String, Value>,
}

impl RequestBody for Preview {
    type Schema = PreviewRequest;
    const WHAT: &'static str = "a job, or {\"schedule\":{…}}, with \"count\" and \"from\" if you like";

    fn read(value: Value) -> Result<Self, Error> {
        let Value::Object(mut members) = value else {
            return Err(Error::invalid(format!("the body must be {} as an object", Self::WHAT)));
        };
        let options = ["count", "from", "job_id"].into_iter().filter_map(|name| members.remove_entry(name));
        let options: Options = from_json(&Value::Object(options.collect()))?;
        if !(1..=MAX_INSTANTS).contains(&options.count) {
            let message = format!("{} is not allowed; a number from 1 to {MAX_INSTANTS}", options.count);
            return Err(Error::field("count", message));
        }
        Ok(Self { options, members })
    }
}

pub async fn preview(state: Shared, caller: Caller, body: Body<Preview>) -> Answer<PreviewView> {
    let Preview { options, members } = body.0;
    let before = match options.job_id {
        Some(id) => Some(visible_job(&state, &caller, id).await?),
        None => None,
    };
    let (draft, is_whole) = draft_of(members)?;
    let request = manage::PreviewRequest {
        draft: &draft,
        before: before.as_ref(),
        needs_app: is_whole,
        from: options.from.map(|from| from.0),
        count: options.count as usize,
    };
    Ok(Json(state.engine.jobs().preview(&request, &caller.0).await?.into()))
}

/// The job of the body's `job_id`; one that the caller may not see does not exist.
async fn visible_job(state: &State, caller: &Caller, id: i64) -> Result<Job, Error> {
    let job = state.engine.jobs().get(id).await?;
    match policy::may(&caller.0, Action::View, Object::App(job.app_id)) {
        true => Ok(job),
        false => Err(Error::not_found(format!("there is no job {id}"))),
    }
}

/// The draft, and whether it is a whole job.
fn draft_of(mut members: Map<String, Value>) -> Result<(JobDraft, bool), Error> {
    const NEEDED: [&str; 3] = ["app", "name", "handler"];
    let is_whole = NEEDED.iter().any(|name| members.contains_key(*name));
    if !is_whole {
        if !members.contains_key("schedule") {
            return Err(Error::field("schedule", "is missing; it is required"));
        }
        members.extend(NEEDED.map(|name| (name.to_owned(), json!("preview"))));
        // Only best-effort jobs have such a period.
        if members["schedule"].get("milliseconds").is_some() {
            members.entry("durability").or_insert_with(|| json!(Durability::BestEffort));
        }
    }
    Ok((draft(Value::Object(members))?, is_whole))
}
