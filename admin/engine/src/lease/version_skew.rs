//! Nodes of different versions, or with different editions of the time zones: they agree on every instant that is recorded,
//! since one of them wins its row, but may not agree on the next one. It is only reported: an upgrade looks the same.

use parking_lot::Mutex;

use crate::context::Context;
use carillon_store::lease::nodes::{Node, version};

/// What the others were when it was last reported; empty: the same as this one.
#[derive(Default)]
pub struct VersionSkew(Mutex<Vec<String>>);

impl VersionSkew {
    pub fn compare(&self, cx: &Context, live: &[Node]) {
        let ours = version();
        let differ = |node: &&Node| node.id != cx.node && node.version != ours;
        let others: Vec<String> =
            live.iter().filter(differ).map(|node| format!("{} {}", node.address, node.version)).collect();
        cx.metrics.skew.set(others.len() as i64);
        let mut reported = self.0.lock();
        if !others.is_empty() && *reported != others {
            tracing::warn!(
                node.version = ours,
                peer.versions = others.join("; "),
                "nodes of this cluster differ in their version or their time zones"
            );
        }
        *reported = others;
    }
}
