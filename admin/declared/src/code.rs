//! What the code says of a job, in the form in which the server keeps jobs.

use carillon_protocol::DeclaredJob;
use carillon_scheduler::{JobDraft, ScheduleContext, ScheduleDraft};
use serde_json::{Map, Value, json};

/// The members that code may name. Not among them: the app, whether the job is enabled, scripts, requests, and what files say.
const MEMBERS: [&str; 31] = [
    "block",
    "catch_up",
    "children",
    "description",
    "durability",
    "flag_after_seconds",
    "handler",
    "key",
    "limits",
    "max_concurrent",
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
    "priority",
    "retries",
    "retry_delay",
    "route",
    "route_labels",
    "schedule",
    "start_within_seconds",
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
    // These are left out where they are as in a new job.
    for (member, value) in [("parts", json!(1)), ("workflow", Value::Null), ("max_concurrent", json!(1))] {
        members.entry(member).or_insert(value);
    }
    members.entry("limits").or_insert_with(|| json!([]));
    members.entry("priority").or_insert_with(|| 0.into());
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
    fn each_member_can_be_compared_and_goes_back_to_that_of_a_new_job() {
        let draft = JobDraft::new("billing", "Close", "close");
        let all = members(&draft);
        let missing: Vec<&&str> = MEMBERS.iter().filter(|member| !all.contains_key(**member)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let given = map(json!({"max_concurrent": 3, "overlap": "wait", "limits": ["api"], "priority": 60}));
        let code = normal(&draft, &given).unwrap();
        assert_eq!(Value::from(code.clone()), Value::from(given.clone()));
        let written = with_members(&draft, &code).unwrap();
        assert_eq!((written.max_concurrent, written.priority, &written.limits[..]), (3, 60, &["api".to_owned()][..]));
        let back: Map<String, Value> = given.keys().map(|member| (member.clone(), all[member].clone())).collect();
        assert_eq!(normal(&written, &back).unwrap(), back);
        assert_eq!(members(&with_members(&written, &back).unwrap()), all);
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
