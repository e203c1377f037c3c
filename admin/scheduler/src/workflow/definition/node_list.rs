//! The nodes of a definition: a JSON or YAML object whose order is kept.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserializer, Serializer};

use super::draft::NodeDraft;

pub(super) fn serialize<S: Serializer>(nodes: &[(String, NodeDraft)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(nodes.iter().map(|(name, node)| (name, node)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, NodeDraft)>, D::Error> {
    deserializer.deserialize_map(NodesVisitor)
}

struct NodesVisitor;

impl<'de> Visitor<'de> for NodesVisitor {
    type Value = Vec<(String, NodeDraft)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the nodes as an object, by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut nodes, mut names) = (vec![], HashSet::new());
        while let Some(name) = members.next_key::<String>()? {
            // A map would keep the last of two, without a word.
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!("the node `{name:.64}` is given twice")));
            }
            nodes.push((name, members.next_value()?));
        }
        Ok(nodes)
    }
}
