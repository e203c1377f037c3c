//! Tests as JSON or YAML: a path and exactly one operator.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::condition::{Bound, Op, Test};

/// A test as an object. Two levels of options: `{"eq": null}` has an operand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a test as an object, such as {\"path\":\"/rows\",\"gt\":0}")]
struct TestObject {
    path: String,
    #[serde(default, deserialize_with = "given")]
    eq: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    ne: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    lt: Option<Bound>,
    #[serde(default, deserialize_with = "given")]
    le: Option<Bound>,
    #[serde(default, deserialize_with = "given")]
    gt: Option<Bound>,
    #[serde(default, deserialize_with = "given")]
    ge: Option<Bound>,
    #[serde(default, rename = "in", deserialize_with = "given")]
    within: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "given")]
    exists: Option<bool>,
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for Test {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let TestObject { path, eq, ne, lt, le, gt, ge, within, exists } = TestObject::deserialize(deserializer)?;
        let ops = [
            eq.map(Op::Eq),
            ne.map(Op::Ne),
            lt.map(Op::Lt),
            le.map(Op::Le),
            gt.map(Op::Gt),
            ge.map(Op::Ge),
            within.map(Op::In),
            exists.map(Op::Exists),
        ];
        let mut ops = ops.into_iter().flatten();
        match (ops.next(), ops.next()) {
            (Some(op), None) => Ok(Self { path, op }),
            _ => Err(D::Error::custom("a test has exactly one of eq, ne, lt, le, gt, ge, in and exists")),
        }
    }
}

impl Serialize for Test {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(2))?;
        members.serialize_entry("path", &self.path)?;
        let name = self.op.name();
        match &self.op {
            Op::Eq(value) | Op::Ne(value) => members.serialize_entry(name, value)?,
            Op::Lt(bound) | Op::Le(bound) | Op::Gt(bound) | Op::Ge(bound) => members.serialize_entry(name, bound)?,
            Op::In(values) => members.serialize_entry(name, values)?,
            Op::Exists(exists) => members.serialize_entry(name, exists)?,
        }
        members.end()
    }
}
