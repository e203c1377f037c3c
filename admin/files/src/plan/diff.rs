//! Member by member.

use serde::Serialize;
use serde_json::{Map, Value};

/// A member that differs. `null` stands for one that is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub member: String,
    pub before: Value,
    pub after: Value,
}

/// The objects whose members are compared one by one also where the other side has none: a graph may be long.
const APART: [&str; 3] = ["http", "workflow", "workflow.nodes"];

/// The members that differ, sorted. Members of objects are compared one by one.
pub fn difference(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Difference> {
    let mut found = vec![];
    compare("", before, after, &mut found);
    found
}

fn compare(path: &str, before: &Map<String, Value>, after: &Map<String, Value>, found: &mut Vec<Difference>) {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |members: &Map<String, Value>| members.get(name).cloned().unwrap_or_default();
        let member = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match (of(before), of(after)) {
            (before, after) if before == after => {}
            (Value::Object(before), Value::Object(after)) => compare(&member, &before, &after, found),
            (Value::Null, Value::Object(after)) if APART.contains(&&*member) => {
                compare(&member, &Map::new(), &after, found);
            }
            (Value::Object(before), Value::Null) if APART.contains(&&*member) => {
                compare(&member, &before, &Map::new(), found);
            }
            (before, after) => found.push(Difference { member, before, after }),
        }
    }
}
