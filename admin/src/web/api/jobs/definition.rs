//! From JSON to the draft of a job.

use carillon_scheduler::{FieldError, JobDraft, ScheduleContext, ScheduleDraft, ScheduleInput};
use serde_json::Value;

use crate::web::api::error::Error;
use crate::web::api::extract::{Parsed, ReadOnly, from_json, parse};

/// Jobs in one batch.
pub const MAX_JOBS: usize = 1000;

/// The members of an answer that a request may send back unchanged and cannot set.
pub const READ_ONLY: ReadOnly = ReadOnly {
    revision: "revision",
    ignored: &["next_fire_at", "fires_left", "paused_reason", "pause", "created_at", "updated_at"],
};

/// Reads a job. The answer names all wrong members: where one has a wrong form, the others are checked by the rules of a job too.
pub fn draft(mut value: Value) -> Result<JobDraft, Error> {
    let mut faults = Vec::new();
    let Value::Object(members) = &mut value else {
        return Err(Error::invalid("must be a job as an object"));
    };
    // A job has a handler or a script.
    if members.get("script").is_some_and(|script| !script.is_null()) {
        members.entry("handler").or_insert_with(|| "".into());
    }
    let schedule = match members.remove("schedule").map(|value| schedule(&value)).transpose() {
        Ok(schedule) => schedule.unwrap_or_default(),
        Err(fault) => {
            faults.push(fault.inside("schedule"));
            ScheduleDraft::none()
        }
    };
    let read: Parsed<JobDraft> = parse(value);
    faults.extend(read.faults);
    match read.value {
        Some(draft) if faults.is_empty() => Ok(JobDraft { schedule, ..draft }),
        draft => {
            let broken = draft.map(|draft| broken_rules(&JobDraft { schedule, ..draft })).unwrap_or_default();
            let is_new = |error: &FieldError| faults.iter().all(|fault| fault.of_field() != Some(&error.field));
            let broken: Vec<Error> = broken.into_iter().filter(is_new).map(Error::from).collect();
            faults.extend(broken);
            Err(Error::all(faults))
        }
    }
}

/// The members that break a rule. Calendars are unknown here: with them, the schedule is checked only when the rest is right.
pub fn broken_rules(draft: &JobDraft) -> Vec<FieldError> {
    let schedule = match draft.schedule.calendars.is_empty() {
        true => draft.schedule.clone(),
        false => ScheduleDraft::none(),
    };
    let draft = JobDraft { schedule, ..draft.clone() };
    draft.validate(&ScheduleContext::default(), None, 0).err().unwrap_or_default()
}

fn schedule(value: &Value) -> Result<ScheduleDraft, Error> {
    from_json::<ScheduleInput>(value)?.try_into().map_err(|error: FieldError| error.into())
}

/// A job that the path names by its app and its key, which the body may leave out.
///
/// # Errors
/// One for each member that is wrong.
pub fn with_key(mut value: Value, app: &str, key: &str) -> Result<JobDraft, Error> {
    if let Some(members) = value.as_object_mut() {
        members.remove("id");
        for (member, of_path) in [("app", app), ("key", key)] {
            let given = members.entry(member).or_insert_with(|| of_path.into());
            if given.as_str() != Some(of_path) {
                return Err(Error::field(member, format!("differs from the {of_path:?} of the path")));
            }
        }
    }
    draft(value)
}

/// A job that was changed and sent back.
pub fn update(mut value: Value, id: i64) -> Result<JobDraft, Error> {
    let given = value.as_object_mut().and_then(|members| members.remove("id"));
    if given.is_some_and(|given| given.as_i64() != Some(id)) {
        return Err(Error::field("id", format!("differs from the {id} of the path")));
    }
    draft(value)
}
