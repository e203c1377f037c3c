//! The edges into a node in words.

use carillon_scheduler::workflow::{AfterDraft, Bound, Join, On, Op, Test};
use serde_json::Value;

use crate::web::locale::Language;

/// Characters of a value that are shown.
const SHOWN: usize = 32;

/// `check (on failure), load if /rows > 0`; empty: the node starts at once.
pub fn after_text(language: Language, after: &[AfterDraft], join: Join) -> String {
    let edges: Vec<String> = after.iter().map(|edge| edge_text(language, edge)).collect();
    let edges = edges.join(", ");
    match join {
        Join::Any if after.len() > 1 => language.text("after-any-of").with("edges", edges).to_string(),
        _ => edges,
    }
}

fn edge_text(language: Language, edge: &AfterDraft) -> String {
    let edge_with_end = match edge.on {
        On::Success => edge.node.clone(),
        On::Failure => language.text("after-on-failure").with("node", &edge.node).to_string(),
        On::Always => language.text("after-on-any-end").with("node", &edge.node).to_string(),
    };
    match edge.when.as_slice() {
        [] => edge_with_end,
        tests => {
            language.text("after-if").with("edge", edge_with_end).with("tests", tests_text(language, tests)).to_string()
        }
    }
}

/// `/rows > 0`, several with an "and" between.
pub fn tests_text(language: Language, tests: &[Test]) -> String {
    let tests = tests.iter().map(|test| test_text(language, test));
    let both = |first: String, second: String| {
        language.text("tests-and").with("first", first).with("second", second).to_string()
    };
    tests.reduce(both).unwrap_or_default()
}

fn test_text(language: Language, test: &Test) -> String {
    let path = match test.path.as_str() {
        "" => language.text("the-result").to_string(),
        path => path.to_owned(),
    };
    match &test.op {
        Op::Exists(true) => language.text("test-exists").with("path", path).to_string(),
        Op::Exists(false) => language.text("test-is-missing").with("path", path).to_string(),
        Op::In(values) => {
            let values: Vec<String> = values.iter().map(value_text).collect();
            language.text("test-in").with("path", path).with("values", values.join(", ")).to_string()
        }
        Op::Eq(value) => format!("{path} = {}", value_text(value)),
        Op::Ne(value) => format!("{path} ≠ {}", value_text(value)),
        Op::Lt(bound) => format!("{path} < {}", bound_text(bound)),
        Op::Le(bound) => format!("{path} ≤ {}", bound_text(bound)),
        Op::Gt(bound) => format!("{path} > {}", bound_text(bound)),
        Op::Ge(bound) => format!("{path} ≥ {}", bound_text(bound)),
    }
}

fn bound_text(bound: &Bound) -> String {
    match bound {
        Bound::Number(number) => number.to_string(),
        Bound::Text(text) => value_text(&text.as_str().into()),
    }
}

fn value_text(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_written_as_a_person_would_say_them() {
        let after = r#"["a", {"node": "b", "on": "failure"}, {"node": "c", "on": "always", "when": [{"path": "/rows", "gt": 0},
            {"path": "", "in": ["x", "y"]}, {"path": "/a", "exists": false}]}]"#;
        let after: Vec<AfterDraft> = serde_json::from_str(after).unwrap();
        let text = after_text(Language::English, &after, Join::All);
        assert_eq!(
            text,
            "a, b (on failure), c (on any end) if /rows > 0 and the result is one of \"x\", \"y\" and /a is missing"
        );
        assert!(after_text(Language::English, &after, Join::Any).starts_with("any of: a, "));
        assert_eq!(after_text(Language::English, &after[..1], Join::Any), "a");
        assert_eq!(after_text(Language::English, &[], Join::All), "");
    }

    #[test]
    fn a_long_value_is_cut() {
        let test: Test =
            serde_json::from_str(&format!("{{\"path\": \"/a\", \"ne\": \"{}\"}}", "é".repeat(90))).unwrap();
        let text = test_text(Language::English, &test);
        assert_eq!((text.chars().count(), text.ends_with("é…")), (5 + SHOWN + 1, true), "{text}");
    }
}
