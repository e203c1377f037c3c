//! Tests of a parent's result, such as `{"path": "/rows", "gt": 0}`. No expression language: a test can be checked when it is saved, drawn,
//! and runs no code.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::super::value_path::value_at;
use super::super::why::Branch;

/// One test: a path into the result, and an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// A JSON pointer (RFC 6901). Empty: the text itself, or the whole value where the operator compares with another kind than a text.
    pub path: String,
    /// What must hold of the value there.
    pub op: Op,
}

/// An operator and its operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Equal; numbers by their value.
    Eq(Value),
    /// Not equal.
    Ne(Value),
    /// Less.
    Lt(Bound),
    /// Less or equal.
    Le(Bound),
    /// Greater.
    Gt(Bound),
    /// Greater or equal.
    Ge(Bound),
    /// Equal to one of them.
    In(Vec<Value>),
    /// Whether there is such a value at all; `null` is one.
    Exists(bool),
}

/// The operand of an order: values of another kind are neither less nor greater.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or a text")]
pub enum Bound {
    /// Compared by value.
    Number(Number),
    /// Compared by code points.
    Text(String),
}

impl Op {
    /// The member of a test.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Eq(_) => "eq",
            Self::Ne(_) => "ne",
            Self::Lt(_) => "lt",
            Self::Le(_) => "le",
            Self::Gt(_) => "gt",
            Self::Ge(_) => "ge",
            Self::In(_) => "in",
            Self::Exists(_) => "exists",
        }
    }
}

/// Maximum number of characters of a value in the text about a branch.
const SHOWN_CHARS: usize = 64;

impl Test {
    /// Tests the result of a parent, or its error text.
    ///
    /// # Errors
    /// Says why it does not hold. Where there is no value, only `exists: false` holds.
    pub(crate) fn check(&self, text: Option<&str>) -> Result<(), Branch> {
        let is_text = |value: &Value| value.is_string();
        let holds = match &self.op {
            Op::Exists(exists) => return self.check_exists(text, *exists),
            Op::Eq(operand) => self.value(text, is_text(operand)).map(|value| is_equal(&value, operand)),
            Op::Ne(operand) => self.value(text, is_text(operand)).map(|value| !is_equal(&value, operand)),
            Op::Lt(bound) => self.order(text, bound).map(|order| order == Some(Ordering::Less)),
            Op::Le(bound) => self.order(text, bound).map(|order| order.is_some_and(Ordering::is_le)),
            Op::Gt(bound) => self.order(text, bound).map(|order| order == Some(Ordering::Greater)),
            Op::Ge(bound) => self.order(text, bound).map(|order| order.is_some_and(Ordering::is_ge)),
            Op::In(operands) => self.value(text, true).map(|_| {
                operands
                    .iter()
                    .any(|operand| self.value(text, is_text(operand)).is_some_and(|value| is_equal(&value, operand)))
            }),
        };
        match holds {
            Some(true) => Ok(()),
            Some(false) => Err(self.unmet(text)),
            None => Err(Branch::Missing { path: self.path.clone() }),
        }
    }

    fn check_exists(&self, text: Option<&str>, wanted: bool) -> Result<(), Branch> {
        match (self.value(text, true).is_some(), wanted) {
            (true, false) => Err(self.unmet(text)),
            (false, true) => Err(Branch::Missing { path: self.path.clone() }),
            _ => Ok(()),
        }
    }

    fn unmet(&self, text: Option<&str>) -> Branch {
        let value = match (self.path.as_str(), text) {
            ("", text) => Cow::Borrowed(text.unwrap_or_default()),
            _ => Cow::Owned(self.value(text, true).unwrap_or_default().to_string()),
        };
        Branch::Test { path: self.path.clone(), value: value.chars().take(SHOWN_CHARS).collect() }
    }

    /// The value at the path. The empty path is the text itself, or its value if that is compared with another kind than a text.
    fn value(&self, text: Option<&str>, as_text: bool) -> Option<Value> {
        let text = text?;
        let value = || serde_json::from_str(value_at(text, &self.path)?.get()).ok();
        match self.path.as_str() {
            "" if as_text => Some(Value::String(text.to_owned())),
            "" => Some(value().unwrap_or_else(|| Value::String(text.to_owned()))),
            _ => value(),
        }
    }

    /// The order of the value and the bound. Outer `None`: there is no value; inner `None`: it is of another kind.
    fn order(&self, text: Option<&str>, bound: &Bound) -> Option<Option<Ordering>> {
        let value = self.value(text, matches!(bound, Bound::Text(_)))?;
        Some(match (&value, bound) {
            (Value::Number(number), Bound::Number(bound)) => number_order(number, bound),
            (Value::String(text), Bound::Text(bound)) => Some(text.as_str().cmp(bound)),
            _ => None,
        })
    }
}

/// Equal, where 1 and 1.0 are the same number.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => number_order(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| is_equal(one, other)))
        }
        _ => one == other,
    }
}

/// Integers of 64 bits exactly, others as 64-bit floating point numbers.
fn number_order(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: Option<&str>, test: &str) -> Result<(), Branch> {
        serde_json::from_str::<Test>(test).unwrap().check(text)
    }

    #[test]
    fn each_operator_compares_what_it_names() {
        let text = r#"{"rows": 7, "name": "b", "list": [1, {"a": 2.0}], "null": null, "big": 9007199254740993}"#;
        for (test, holds) in [
            (r#"{"path":"/rows","eq":7}"#, true),
            (r#"{"path":"/rows","eq":7.0}"#, true),
            (r#"{"path":"/rows","eq":"7"}"#, false),
            (r#"{"path":"/rows","ne":7}"#, false),
            (r#"{"path":"/rows","ne":"7"}"#, true),
            (r#"{"path":"/rows","lt":7}"#, false),
            (r#"{"path":"/rows","lt":7.5}"#, true),
            (r#"{"path":"/rows","le":7}"#, true),
            (r#"{"path":"/rows","gt":6}"#, true),
            (r#"{"path":"/rows","gt":7}"#, false),
            (r#"{"path":"/rows","ge":7}"#, true),
            (r#"{"path":"/rows","ge":8}"#, false),
            (r#"{"path":"/rows","gt":"6"}"#, false),
            (r#"{"path":"/name","gt":"a"}"#, true),
            (r#"{"path":"/name","le":"a"}"#, false),
            (r#"{"path":"/name","in":["a","b"]}"#, true),
            (r#"{"path":"/name","in":["a"]}"#, false),
            (r#"{"path":"/list","eq":[1,{"a":2}]}"#, true),
            (r#"{"path":"/list","eq":[1]}"#, false),
            (r#"{"path":"/null","eq":null}"#, true),
            (r#"{"path":"/null","exists":true}"#, true),
            (r#"{"path":"/null","exists":false}"#, false),
            (r#"{"path":"/big","gt":9007199254740992}"#, true),
        ] {
            assert_eq!(check(Some(text), test).is_ok(), holds, "{test}");
        }
    }

    #[test]
    fn a_missing_path_holds_for_nothing_but_its_absence() {
        for op in ["\"eq\":null", "\"ne\":1", "\"lt\":1", "\"ge\":\"a\"", "\"in\":[null]", "\"exists\":true"] {
            for text in [Some("{}"), Some("no JSON"), None] {
                let missing = Branch::Missing { path: "/a".to_owned() };
                assert_eq!(check(text, &format!(r#"{{"path":"/a",{op}}}"#)), Err(missing), "{op}");
            }
        }
        assert_eq!(check(Some("{}"), r#"{"path":"/a","exists":false}"#), Ok(()));
        assert_eq!(check(None, r#"{"path":"","exists":false}"#), Ok(()));
    }

    #[test]
    fn the_empty_path_is_the_text_itself() {
        for (text, test, holds) in [
            ("done", r#"{"path":"","eq":"done"}"#, true),
            ("5", r#"{"path":"","eq":"5"}"#, true),
            ("5", r#"{"path":"","eq":5}"#, true),
            ("5", r#"{"path":"","gt":4}"#, true),
            ("5", r#"{"path":"","gt":"4"}"#, true),
            ("done", r#"{"path":"","gt":4}"#, false),
            ("done", r#"{"path":"","ne":4}"#, true),
            ("true", r#"{"path":"","in":[1,true]}"#, true),
            ("done", r#"{"path":"","in":["done"]}"#, true),
        ] {
            assert_eq!(check(Some(text), test).is_ok(), holds, "{text} {test}");
        }
        let unmet = Branch::Test { path: String::new(), value: "x".repeat(64) };
        assert_eq!(check(Some(&"x".repeat(65)), r#"{"path":"","eq":"y"}"#), Err(unmet));
    }
}
