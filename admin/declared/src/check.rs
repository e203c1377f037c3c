//! What no declaration may have, of any app. Each is checked once, before it is stored.

use carillon_protocol::{Declaration, DeclaredJob};
use carillon_scheduler::check_key;
use carillon_scheduler::job::limits::CHILDREN;
use carillon_scheduler::workflow::limits::NODES;
use serde_json::{Map, Value};

use crate::code::forbidden_member;
use crate::order;

/// Jobs of one declaration.
const MOST_JOBS: usize = 1_000;

/// # Errors
/// What is wrong with it.
pub fn check(declaration: &Declaration) -> Result<(), String> {
    if declaration.jobs.len() > MOST_JOBS {
        return Err(format!("{} jobs are declared; at most {MOST_JOBS} are allowed", declaration.jobs.len()));
    }
    if declaration.build.chars().any(char::is_control) {
        return Err("the name of the build has control characters".to_owned());
    }
    for (index, job) in declaration.jobs.iter().enumerate() {
        if job.key.is_empty() {
            return Err(format!("job number {} has no key", index + 1));
        }
        let is_twice = declaration.jobs[..index].iter().any(|other| other.key == job.key);
        let checked = if is_twice { Err("is declared twice".to_owned()) } else { check_job(job) };
        checked.map_err(|problem| format!("job {:.64}: {problem}", job.key))?;
    }
    Ok(())
}

fn check_job(job: &DeclaredJob) -> Result<(), String> {
    check_key(&job.key).map_err(|problem| format!("key {problem}"))?;
    if let Some(was) = &job.was {
        check_key(was).map_err(|problem| format!("was {problem}"))?;
    }
    if job.file.chars().any(char::is_control) {
        return Err("the name of its source file has control characters".to_owned());
    }
    if let Some(member) = forbidden_member(job) {
        return Err(format!("`{member:.64}` cannot be declared"));
    }
    check_started(job)?;
    match has_nul(&job.members) {
        true => Err("a text has the character NUL, which databases do not take".to_owned()),
        false => Ok(()),
    }
}

/// Before they are looked up: each of them is a key, and there are no more of them than a job may have.
fn check_started(job: &DeclaredJob) -> Result<(), String> {
    let children = job.members.get("children").and_then(Value::as_array).map_or(0, Vec::len);
    if children > CHILDREN {
        return Err(format!("children has {children} jobs; at most {CHILDREN} are allowed"));
    }
    let started = order::started(job);
    if started.len() - children.min(started.len()) > NODES {
        return Err(format!("workflow has more than {NODES} nodes"));
    }
    for key in started {
        check_key(key).map_err(|problem| format!("a job that it starts: key {problem}"))?;
    }
    Ok(())
}

fn has_nul(members: &Map<String, Value>) -> bool {
    let mut values: Vec<&Value> = members.values().collect();
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) if text.contains('\0') => return true,
            Value::Array(list) => values.extend(list),
            Value::Object(object) if object.keys().any(|key| key.contains('\0')) => return true,
            Value::Object(object) => values.extend(object.values()),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(members: Value) -> String {
        let members = members.as_object().cloned().unwrap_or_default();
        let job = DeclaredJob { key: "a".to_owned(), members, ..DeclaredJob::default() };
        check(&Declaration { jobs: vec![job], ..Declaration::default() }).err().unwrap_or_default()
    }

    #[test]
    fn a_text_with_nul_is_refused_wherever_it_is() {
        for members in [
            json!({"params": "\0"}),
            json!({"tags": ["b", "\0"]}),
            json!({"schedule": {"kind": "cron", "expression": "\0"}}),
            json!({"workflow": {"nodes": {"\0": {"job": "b"}}}}),
        ] {
            assert_eq!(refusal(members), "job a: a text has the character NUL, which databases do not take");
        }
        assert_eq!(refusal(json!({"params": "a\nb", "children": ["b"]})), "");
    }

    #[test]
    fn jobs_that_it_starts_are_keys_and_limited() {
        let wrong = "job a: a job that it starts: key ";
        assert!(refusal(json!({"children": ["\0"]})).starts_with(wrong));
        assert!(refusal(json!({"workflow": {"nodes": {"x": {"job": "B"}}}})).starts_with(wrong));
        let keys = vec!["b"; 101];
        assert_eq!(refusal(json!({"children": keys})), "job a: children has 101 jobs; at most 100 are allowed");
        assert_eq!(refusal(json!({"children": vec!["b"; 100]})), "");
        let nodes: Map<String, Value> = (0..501).map(|node| (format!("n{node}"), json!({"job": "b"}))).collect();
        assert_eq!(refusal(json!({"workflow": {"nodes": nodes}})), "job a: workflow has more than 500 nodes");
    }
}
