//! Graphs that were read lately. Each end of a node needs the whole graph, and a graph in one version never changes.

use std::sync::{Arc, Mutex, PoisonError};

use carillon_scheduler::Millis;
use carillon_scheduler::workflow::Graph;
use foldhash::HashMap;

/// A graph of 500 nodes takes about half a MiB.
const MOST: usize = 32;

/// By job and version.
#[derive(Default)]
pub(crate) struct RecentGraphs(Mutex<HashMap<(i64, Millis), Arc<Graph>>>);

impl RecentGraphs {
    pub fn get(&self, key: (i64, Millis)) -> Option<Arc<Graph>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    pub fn keep(&self, key: (i64, Millis), graph: &Arc<Graph>) {
        let mut graphs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.len() >= MOST {
            // Those that are in use come back with their next read.
            graphs.clear();
        }
        graphs.insert(key, graph.clone());
    }
}
