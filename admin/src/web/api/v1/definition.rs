//! From JSON to a definition that can be stored.

use std::collections::HashMap;

use carillon_scheduler::{FieldError, JobDraft, Millis, ScheduleDraft};
use serde::Deserialize as _;
use serde_json::Value;

use super::body::member_error;
use super::error::Error;
use crate::store::{App, Definition, Job, Store};
use crate::web::State;
use crate::web::around::Around;

/// The members of an answer that a request may send back unchanged: they are not the client's to set.
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

/// Members with a fault of their own in one job; there are no more members than that.
const MOST_FAULTS: usize = 40;

/// A job as it is sent. Errors name the member, inside the schedule as well, and all of them are told: serde stops at the
/// first, so that member is taken out, or a missing one put in, and the rest is read again.
pub fn draft(mut value: Value) -> Result<JobDraft, Error> {
    let mut faults = Vec::new();
    let Value::Object(members) = &mut value else {
        return Err(Error::invalid("must be a job as an object"));
    };
    if let Some(schedule) = members.get("schedule")
        && let Err(error) = ScheduleDraft::deserialize(schedule)
    {
        faults.push(within_schedule(&error.to_string()));
        members.remove("schedule");
    }
    for _ in 0..MOST_FAULTS {
        let fault = match JobDraft::deserialize(&value) {
            Ok(draft) if faults.is_empty() => return Ok(draft),
            Ok(_) => break,
            Err(error) => member_error(&error.to_string()),
        };
        let (Some(name), Value::Object(members)) = (fault.of_field(), &mut value) else {
            faults.push(fault);
            break;
        };
        if members.remove(name).is_none() {
            members.insert(name.to_owned(), Value::from(""));
        }
        let is_told = faults.iter().any(|told: &Error| told.of_field() == Some(name));
        if !is_told {
            faults.push(fault);
        }
    }
    Err(Error::all(faults))
}

/// The schedule's own texts name a member either fully (`schedule.seconds: …`) or alone (an unknown one).
fn within_schedule(text: &str) -> Error {
    match text.starts_with("schedule.") {
        true => member_error(text),
        false => member_error(text).inside("schedule"),
    }
}

/// What an update may carry besides the definition: an answer of ours can be changed and sent back as it is.
pub struct Sent {
    pub draft: JobDraft,
    /// The revision that the client has seen.
    pub revision: Option<i64>,
}

pub fn sent_back(mut value: Value, id: i64) -> Result<Sent, Error> {
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
    Ok(Sent { draft: draft(value)?, revision })
}

/// What the drafts of a request name and need, each looked up once.
pub struct Known {
    apps: HashMap<String, App>,
    around: Around,
}

pub async fn known(state: &State, drafts: &[JobDraft], before: Option<&Job>) -> Result<Known, Error> {
    let mut apps = HashMap::new();
    for draft in drafts {
        if !apps.contains_key(&draft.app)
            && let Some(app) = state.store.app_by_name(&draft.app).await?
        {
            apps.insert(draft.app.clone(), app);
        }
    }
    let around = Around::of(state, drafts, before).await?;
    Ok(Known { apps, around })
}

/// All that is wrong with a definition is the answer.
pub fn check(draft: &JobDraft, known: &mut Known, before: Option<&Job>, now: Millis) -> Result<Definition, Error> {
    let Some(app) = known.apps.get(&draft.app) else {
        return Err(no_app(draft));
    };
    let (surroundings, _) = known.around.surroundings(app, draft, before, now);
    Definition::check_in(surroundings, draft, now).map_err(all)
}

/// The app that a draft names.
pub async fn app_of(store: &Store, draft: &JobDraft) -> Result<App, Error> {
    let found = store.app_by_name(&draft.app).await?;
    found.ok_or_else(|| no_app(draft))
}

pub fn all(errors: Vec<FieldError>) -> Error {
    Error::all(errors.into_iter().map(Error::from).collect())
}

fn no_app(draft: &JobDraft) -> Error {
    let message = match carillon_scheduler::validate_app_name(&draft.app) {
        Err(message) => message,
        Ok(()) => format!("there is no app `{}`; create it first (POST /api/v1/apps)", draft.app),
    };
    Error::field("app", message)
}
