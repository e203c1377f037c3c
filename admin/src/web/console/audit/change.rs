//! What an entry changed, member by member.

use std::collections::BTreeMap;

use carillon_scheduler::Millis;
use serde_json::{Number, Value};

/// Characters of a value that are shown, and how many of them stand before the first one that differs.
const SHOWN: usize = 300;
const BEFORE: usize = 60;

/// A member that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedMember {
    /// `schedule.expression`.
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The members of `before` and `after`, each once, by name. `words` writes the value of a path; None: it is written as it is.
pub fn changes(detail: &Value, words: impl Fn(&str, &Value) -> Option<String>) -> Vec<ChangedMember> {
    let (before, after) = (leaves(&detail["before"], &words), leaves(&detail["after"], &words));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let member = |name: &String| {
        let (before, after) = (before.get(name), after.get(name));
        let start = before.zip(after).map_or(0, |(before, after)| first_shown(before, after));
        let shown = |text: &String| excerpt(text, start);
        ChangedMember { name: name.clone(), before: before.map(shown), after: after.map(shown) }
    };
    changed.map(member).collect()
}

/// The character with which the excerpts of two long texts begin, so that what differs is seen.
fn first_shown(before: &str, after: &str) -> usize {
    let is_long = [before, after].iter().any(|text| text.chars().nth(SHOWN).is_some());
    let same = || before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
    if is_long { same().saturating_sub(BEFORE) } else { 0 }
}

/// What is shown of a text from this character on.
fn excerpt(text: &str, start: usize) -> String {
    let (begin, rest) = match text.char_indices().nth(start) {
        _ if text.is_empty() => return "\"\"".to_owned(),
        Some((at, _)) if start > 0 => ("…", &text[at..]),
        _ => ("", text),
    };
    match rest.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{begin}{}…", &rest[..end]),
        None => format!("{begin}{rest}"),
    }
}

/// What else the entry says: `reason`, `note`, `method`, …
pub fn remarks(detail: &Value, words: impl Fn(&str, &Value) -> Option<String>) -> Vec<(String, String)> {
    let mut rest = detail.clone();
    if let Value::Object(members) = &mut rest {
        // The revision is of use to programs.
        for name in ["before", "after", "revision"] {
            members.remove(name);
        }
    }
    leaves(&rest, &words).into_iter().map(|(name, text)| (name, excerpt(&text, 0))).collect()
}

/// Every value that is no object, or has words of its own, under the path to it.
fn leaves(value: &Value, words: &impl Fn(&str, &Value) -> Option<String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match (words(&path, value), value) {
            (Some(text), _) => drop(found.insert(path, text)),
            (None, Value::Object(members)) => {
                let dot = if path.is_empty() { "" } else { "." };
                open.extend(members.iter().map(|(name, value)| (format!("{path}{dot}{name}"), value)));
            }
            (None, Value::Null) => {}
            (None, value) => drop(found.insert(path, text(value))),
        }
    }
    found
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let items = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            items.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// The moment that a member of this name holds; None: it is another number.
pub fn time_of(name: &str, number: &Number) -> Option<Millis> {
    let is_time = name.ends_with("_at") || matches!(name, "from" | "to" | "until");
    // As milliseconds, later than 1973: no other number of these names is as large.
    number.as_i64().filter(|at| is_time && *at > 100_000_000_000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_compared_by_their_paths() {
        let detail = json!({
            "before": {"schedule": {"kind": "cron", "expression": "0 0 1 * * ?"}, "name": "a", "retries": null},
            "after": {"schedule": {"kind": "cron", "expression": "0 0 2 * * ?"}, "name": "b", "retries": 3},
            "revision": 7,
            "from": 1_760_000_000_000_i64,
        });
        let time = |path: &str, value: &Value| match value {
            Value::Number(number) => time_of(path, number).map(|_| "then".to_owned()),
            _ => None,
        };
        let found = changes(&detail, time);
        let names: Vec<_> = found.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["name", "retries", "schedule.expression"]);
        assert_eq!((found[1].before.as_deref(), found[1].after.as_deref()), (None, Some("3")));
        assert_eq!(remarks(&detail, time), [("from".to_owned(), "then".to_owned())]);
        let long = changes(&json!({"after": {"params": "x".repeat(999), "days": ["a", "b"]}}), |_, _| None);
        assert_eq!(long[1].after.as_ref().map(|text| text.chars().count()), Some(SHOWN + 1));
        assert_eq!(long[0].after.as_deref(), Some("a, b"));
    }

    // covers: 001-16
    #[test]
    fn what_differs_is_seen_also_late_in_a_long_text() {
        let same = "é".repeat(800);
        let of = |before: String, after: String| {
            let detail = json!({"before": {"params": before}, "after": {"params": after}});
            let mut found = changes(&detail, |_, _| None);
            let change = found.pop().unwrap();
            (change.before.unwrap(), change.after.unwrap())
        };
        let (before, after) = of(format!("{same}one"), format!("{same}two"));
        let begin = format!("…{}", "é".repeat(BEFORE));
        assert_eq!((before, after), (format!("{begin}one"), format!("{begin}two")));
        let (before, after) = of(same.clone(), format!("{same}{same}"));
        assert_eq!(before, begin, "it ends where the other one goes on");
        assert!(after.starts_with(&begin) && after.ends_with("é…"), "{after}");
        assert_eq!(of(String::new(), "a".repeat(9)), ("\"\"".to_owned(), "a".repeat(9)));
    }
}
