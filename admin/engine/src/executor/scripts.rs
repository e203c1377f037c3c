//! Sources of scripts, by job and version. They are no part of the definitions in [`JobCache`](crate::job_cache::JobCache): only a run that
//! is about to be sent needs one.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};
use parking_lot::Mutex;

use crate::clock_cache::ClockCache;
use crate::job_cache::CachedJob;
use carillon_store as store;
use carillon_store::Store;

/// Sources by job and version.
pub type ScriptSources = HashMap<(i64, i64), Arc<str>>;

/// Bytes of all sources that are kept.
const MOST_BYTES: usize = 16 * 1024 * 1024;

pub struct ScriptCache {
    store: Arc<Store>,
    /// Each with its version.
    sources: Mutex<ClockCache<(i64, Arc<str>)>>,
}

impl ScriptCache {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, sources: Mutex::new(ClockCache::new(MOST_BYTES)) }
    }

    /// The sources of those of these jobs that have a script, by job and version.
    pub async fn sources(&self, jobs: impl Iterator<Item = &Arc<CachedJob>>) -> store::Result<ScriptSources> {
        let mut found = ScriptSources::new();
        for (job_id, version) in jobs.filter_map(|job| job.script_version()) {
            if found.contains_key(&(job_id, version)) {
                continue;
            }
            let kept = self.sources.lock().get(job_id).filter(|kept| kept.0 == version).map(|kept| kept.1.clone());
            let source = match kept {
                Some(source) => source,
                None => match self.store.jobs().script_to_send(job_id, version).await? {
                    Some(source) => self.keep(job_id, version, source.into()),
                    // It has a newer version by now.
                    None => continue,
                },
            };
            found.insert((job_id, version), source);
        }
        Ok(found)
    }

    fn keep(&self, job_id: i64, version: i64, source: Arc<str>) -> Arc<str> {
        self.sources.lock().insert(job_id, (version, source.clone()), source.len() + 128);
        source
    }
}
