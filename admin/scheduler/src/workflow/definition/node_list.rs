//! The nodes of a definition: a JSON or YAML object whose order is kept.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<N: Serialize, S: Serializer>(nodes: &[(String, N)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(nodes.iter().map(|(name, node)| (name, node)))
}

pub(super) fn deserialize<'de, N: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, N)>, D::Error> {
    deserializer.deserialize_map(NodesVisitor(PhantomData))
}

struct NodesVisitor<N>(PhantomData<N>);

impl<'de, N: Deserialize<'de>> Visitor<'de> for NodesVisitor<N> {
    type Value = Vec<(String, N)>;

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
