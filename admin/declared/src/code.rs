//! What the code says of a job, in the form in which the server keeps jobs.

use carillon_protocol::DeclaredJob;
use carillon_scheduler::{JobDraft, ScheduleContext, ScheduleDraft};
use serde_json::{Map, Value};

/// The members that code may name. Not among them: the app, whether the job is enabled, scripts, requests, and what files say.
const MEMBERS: [&str; 26] = [
    "block",
    "catch_up",
    "children",
    "description",
    "flag_after_seconds",
    "handler",
    "key",
    "misfire",
    "misfire_limit",
    "misfire_threshold_seconds",
    "misfire_window_seconds",
    "name",
    "overlap",
    "overlap_queue",
    "owner",
    "params",
    "parts",
    "pause_after_failures",
    "retries",
    "retry_delay",
    "route",
    "route_labels",
    "schedule",
    "tags",
    "timeout_seconds",
    "workflow",
];
/// Members that say which instant a schedule counts from, which the server chooses and keeps.
const CHOSEN: [&str; 2] = ["anchor_at", "spread_offset_seconds"];

/// A member that code must not name.
pub fn forbidden_member(job: &DeclaredJob) -> Option<&String> {
    job.members.keys().find(|member| !MEMBERS.contains(&member.as_str()))
}

/// The name of a new job.
pub fn name(declared: &DeclaredJob, given: &Map<String, Value>) -> String {
    given.get("name").and_then(Value::as_str).unwrap_or(&declared.key).to_owned()
}

/// The members of a job that can be compared with code.
pub fn members(draft: &JobDraft) -> Map<String, Value> {
    let Ok(Value::Object(mut members)) = serde_json::to_value(draft) else { return Map::new() };
    members.retain(|member, _| MEMBERS.contains(&member.as_str()));
    // A job of one part, and one that is no workflow, have no such member.
    members.entry("parts").or_insert_with(|| 1.into());
    members.entry("workflow").or_insert(Value::Null);
    if let Some(Value::Object(schedule)) = members.get_mut("schedule") {
        schedule.retain(|member, _| !CHOSEN.contains(&member.as_str()));
    }
    members
}

/// A draft with other values of some members.
///
/// # Errors
/// A value that its member does not take.
pub fn with_members(draft: &JobDraft, given: &Map<String, Value>) -> Result<JobDraft, String> {
    let Ok(Value::Object(mut all)) = serde_json::to_value(draft) else { return Ok(draft.clone()) };
    all.extend(given.iter().map(|(member, value)| (member.clone(), value.clone())));
    all.retain(|_, value| !value.is_null());
    let draft: JobDraft = serde_path_to_error::deserialize(Value::Object(all)).map_err(|error| error.to_string())?;
    Ok(draft)
}

/// What the code says, each member as the server would keep it. `draft`: the job as it is, or a new one.
///
/// # Errors
/// What is wrong with it.
pub fn normal(draft: &JobDraft, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let wanted = with_members(draft, given)?;
    // Calendars are looked up when it is saved.
    let calendars = wanted.schedule.calendars.clone();
    let checked = JobDraft { schedule: ScheduleDraft { calendars: vec![], ..wanted.schedule.clone() }, ..wanted };
    let spec = checked.validate(&ScheduleContext::default(), None, 0).map_err(|wrong| {
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        wrong.join("; ")
    })?;
    let normal = spec.normal(&checked);
    let mut all = members(&JobDraft { schedule: ScheduleDraft { calendars, ..normal.schedule }, ..normal });
    all.retain(|member, _| given.contains_key(member));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_code_is_compared_in_the_form_of_the_server() {
        let draft = JobDraft::new("billing", "Close", "close");
        let given = map(json!({
            "name": " Close ", "tags": ["b", "a", "b"], "schedule": {"kind": "cron", "expression": "0  0 2 * * ?"},
        }));
        let code = normal(&draft, &given).unwrap();
        let schedule = json!({"kind": "cron", "expression": "0 0 2 * * ?", "timezone": "UTC"});
        assert_eq!((&code["name"], &code["tags"]), (&json!("Close"), &json!(["a", "b"])));
        for (member, value) in schedule.as_object().unwrap() {
            assert_eq!(&code["schedule"][member], value);
        }
        assert_eq!(code.len(), 3, "only what the code names");
        let stored = with_members(&draft, &code).unwrap();
        assert_eq!(normal(&stored, &given).unwrap(), code);
        let kept = members(&stored);
        assert!(code.iter().all(|(member, value)| kept[member] == *value), "{kept:?}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let draft = JobDraft::new("billing", "Close", "close");
        let wrong = |given: Value| normal(&draft, &map(given)).unwrap_err();
        assert!(wrong(json!({"retries": 1000})).starts_with("retries: "));
        assert!(wrong(json!({"retries": "x"})).contains("retries: invalid type"));
        let job = |member: &str| DeclaredJob { members: map(json!({member: 1})), ..DeclaredJob::default() };
        assert_eq!(forbidden_member(&job("script")).map(String::as_str), Some("script"));
        for member in ["timeout_seconds", "retries", "schedule"] {
            assert_eq!(forbidden_member(&job(member)), None);
        }
    }
}
