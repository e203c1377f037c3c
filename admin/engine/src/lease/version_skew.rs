//! Nodes of different versions, or with different editions of the time zones: they agree on every instant that is recorded, for
//! one of them wins its row, but may not agree on the next one. It is said, and nothing else happens: an upgrade looks so.

use std::sync::{Mutex, PoisonError};

use crate::Pipeline;
use crate::store::lease::nodes::{Node, version};

/// What the others were when it was last said; empty: the same as this one.
#[derive(Default)]
pub struct Skew(Mutex<Vec<String>>);

impl Skew {
    pub fn compare(&self, pipeline: &Pipeline, live: &[Node]) {
        let ours = version();
        let differ = |node: &&Node| node.id != pipeline.node && node.version != ours;
        let others: Vec<String> =
            live.iter().filter(differ).map(|node| format!("{} {}", node.address, node.version)).collect();
        pipeline.metrics.skew.set(others.len() as i64);
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !others.is_empty() && *said != others {
            tracing::warn!(
                node.version = ours,
                peer.versions = others.join("; "),
                "nodes of this cluster differ in their version or their time zones"
            );
        }
        *said = others;
    }
}
