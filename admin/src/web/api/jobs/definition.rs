//! From JSON to the draft of a job.

use carillon_scheduler::{FieldError, JobDraft, ScheduleDraft, ScheduleInput};
use serde_json::{Value, json};

use crate::web::api::error::Error;
use crate::web::api::extract::from_json;

/// The members of an answer that a request may send back unchanged and cannot set.
const READ_ONLY: [&str; 9] = [
    "id",
    "next_fire_at",
    "spread_offset_seconds",
    "fires_left",
    "paused_reason",
    "pause",
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
