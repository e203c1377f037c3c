//! From JSON to a definition that can be stored.

use std::collections::HashMap;

use carillon_scheduler::{FieldError, JobDraft, Millis, ScheduleDraft, ScheduleInput};
use serde_json::{Value, json};

use crate::store::{App, Definition, Job, Store};
use crate::web::api::error::Error;
use crate::web::api::extract::from_json;
use crate::web::around::Around;
use crate::web::state::State;

/// The members of an answer that a request may send back unchanged and cannot set.
const READ_ONLY: [&str; 8] = [
    "id",
    "next_fire_at",
    "spread_offset_seconds",
    "fires_left",
    "paused_reason",
    "revision",
    "created_at",
    "updated_at",
];

/// More than a job has members.
const MAX_FAULTS: usize = 40;

/// Reads a job. The answer names all wrong members: serde stops at the first, so that one is taken out, or a missing one put in,
/// and the rest is read again.
pub fn draft(mut value: Value) -> Result<JobDraft, Error> {
    let mut faults = Vec::new();
    let Value::Object(members) = &mut value else {
        return Err(Error::invalid("must be a job as an object"));
    };
    let schedule = match members.remove("schedule").map(|value| schedule(&value)).transpose() {
        Ok(schedule) => schedule.unwrap_or_default(),
        Err(fault) => {
            faults.push(fault.inside("schedule"));
            ScheduleDraft::none()
        }
    };
    for _ in 0..MAX_FAULTS {
        let fault = match from_json::<JobDraft>(&value) {
            Ok(draft) if faults.is_empty() => return Ok(JobDraft { schedule, ..draft }),
            Ok(_) => break,
            Err(fault) => fault,
        };
        let name = fault.of_field().map(|field| field.split(['.', '[']).next().unwrap_or(field).to_owned());
        let (Some(name), Value::Object(members)) = (name, &mut value) else {
            faults.push(fault);
            break;
        };
        if members.remove(&name).is_none() {
            members.insert(name.clone(), json!(""));
        }
        let is_known = faults.iter().any(|known: &Error| known.of_field() == Some(&name));
        if !is_known {
            faults.push(fault);
        }
    }
    Err(Error::all(faults))
}

fn schedule(value: &Value) -> Result<ScheduleDraft, Error> {
    from_json::<ScheduleInput>(value)?.try_into().map_err(|error: FieldError| error.into())
}

/// An update; an answer of this API may be changed and sent back.
pub struct ParsedUpdate {
    pub draft: JobDraft,
    /// The revision that the client has seen.
    pub revision: Option<i64>,
}

pub fn parse_update(mut value: Value, id: i64) -> Result<ParsedUpdate, Error> {
    let mut revision = None;
    if let Some(members) = value.as_object_mut() {
        if let Some(given) = members.get("revision") {
            revision = Some(given.as_i64().ok_or_else(|| Error::field("revision", "must be a whole number"))?);
        }
        if members.get("id").is_some_and(|given| given.as_i64() != Some(id)) {
            return Err(Error::field("id", format!("differs from the {id} of the path")));
        }
        members.retain(|name, _| !READ_ONLY.contains(&name.as_str()));
    }
    Ok(ParsedUpdate { draft: draft(value)?, revision })
}

/// What the drafts of a request refer to, each looked up once.
pub struct ValidationContext {
    apps: HashMap<String, App>,
    around: Around,
}

pub async fn context(state: &State, drafts: &[JobDraft], before: Option<&Job>) -> Result<ValidationContext, Error> {
    let mut apps = HashMap::new();
    for draft in drafts {
        if !apps.contains_key(&draft.app)
            && let Some(app) = state.store.app_by_name(&draft.app).await?
        {
            apps.insert(draft.app.clone(), app);
        }
    }
    let around = Around::of(state, drafts, before).await?;
    Ok(ValidationContext { apps, around })
}

/// # Errors
/// Names everything that is wrong with the definition.
pub fn check(
    draft: &JobDraft,
    context: &mut ValidationContext,
    before: Option<&Job>,
    now: Millis,
) -> Result<Definition, Error> {
    let Some(app) = context.apps.get(&draft.app) else {
        return Err(no_app(draft));
    };
    let (surroundings, _) = context.around.surroundings(app, draft, before, now);
    Definition::check_in(surroundings, draft, now).map_err(Error::from_fields)
}

/// The app that a draft names.
pub async fn app_of(store: &Store, draft: &JobDraft) -> Result<App, Error> {
    let found = store.app_by_name(&draft.app).await?;
    found.ok_or_else(|| no_app(draft))
}

fn no_app(draft: &JobDraft) -> Error {
    let message = match carillon_scheduler::validate_app_name(&draft.app) {
        Err(message) => message,
        Ok(()) => format!("there is no app `{}`; create it first (POST /api/v1/apps)", draft.app),
    };
    Error::field("app", message)
}
