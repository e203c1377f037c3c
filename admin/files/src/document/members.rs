//! From the scalars of a file to JSON: what a member is decides whether `1` is a number or a text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::yaml::{Content, Node};

/// The members that are numbers, beside those that are called `…_seconds`.
const NUMBERS: [&str; 11] = [
    "max",
    "max_concurrent",
    "max_fires",
    "milliseconds",
    "misfire_limit",
    "overlap_queue",
    "parts",
    "pause_after_failures",
    "priority",
    "retries",
    "seconds",
];
const BOOLEANS: [&str; 5] = ["all_jobs", "enabled", "idempotent", "in_body", "takes_result"];
/// Where the test of an answer's body begins.
const EXPECTED: &str = ".http.expect.body.";
/// Where the members of nodes begin.
const NODES: &str = ".workflow.nodes.";

/// The value of a member as the API takes it. The line of every member inside is added to `lines` under its path.
pub fn to_json(node: &Node, path: &str, lines: &mut BTreeMap<String, usize>) -> Value {
    lines.insert(path.to_owned(), node.line);
    let last = path.rsplit('.').next().unwrap_or(path);
    let name = match last.split_once('[') {
        // A number of parts is a number; a list of them has texts.
        Some(("parts", _)) => "",
        Some((name, _)) => name,
        None => last,
    };
    match &node.content {
        Content::Scalar { text, is_plain: true } if is_any_value(path, name) => any_value(text),
        Content::Scalar { text, is_plain: true } => scalar(name, text),
        Content::Scalar { text, .. } => text.clone().into(),
        Content::List(items) => {
            let item = |(index, item)| to_json(item, &format!("{path}[{index}]"), lines);
            items.iter().enumerate().map(item).collect()
        }
        Content::Map(members) => {
            let member = |(key, value): &(crate::yaml::Key, Node)| {
                let path = format!("{path}.{}", key.text);
                let value = to_json(value, &path, lines);
                lines.insert(path, key.line);
                (key.text.clone(), value)
            };
            members.iter().map(member).collect::<Map<_, _>>().into()
        }
    }
}

/// A text that is none of what the member takes stays a text, which the check of the member then names.
fn scalar(name: &str, text: &str) -> Value {
    let as_text = || Value::from(text);
    match name {
        name if NUMBERS.contains(&name) || name.ends_with("_seconds") => {
            text.parse::<i64>().map_or_else(|_| as_text(), Value::from)
        }
        name if BOOLEANS.contains(&name) => text.parse::<bool>().map_or_else(|_| as_text(), Value::from),
        _ => as_text(),
    }
}

/// The operand of a test may be any value; the job of a node is a key, and what looks like a number is refused as one.
fn is_any_value(path: &str, name: &str) -> bool {
    if let Some((_, test)) = path.split_once(EXPECTED) {
        return test != "path";
    }
    path.split_once(NODES).is_some_and(|(_, inside)| match inside.split_once(".when[") {
        Some((_, test)) => test.matches('.').count() > 1 || name != "path",
        None => name == "job",
    })
}

/// A number, a boolean or `null` where it reads as one.
fn any_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => value,
        _ => text.into(),
    }
}
