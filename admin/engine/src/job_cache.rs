//! Definitions in memory, by their revision: parsed once, replaced when the revision differs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use carillon_scheduler::{
    BlockStrategy, CatchUp, HttpDraft, Labels, MisfirePolicy, Overlap, PlanInput, RouteStrategy, Schedule,
    ScheduleContext, ScheduleDraft, ScriptKind, Zone,
};
use foldhash::{HashMap, HashMapExt as _, HashSet};
use parking_lot::Mutex;

use crate::clock_cache::ClockCache;
use carillon_store as store;
use carillon_store::Store;
use carillon_store::job::job_row::{Params, StoredDefinition};
use carillon_store::job::labels::limit_names::names_of;

/// A job as the engine works with it.
#[derive(Debug)]
pub struct CachedJob {
    pub stored: StoredDefinition,
    /// Or why it cannot be planned: another program wrote the row, or zone data has changed.
    pub rules: Result<ParsedJob, String>,
    /// The request that is sent in place of a run for an executor, or why it cannot be read. None: it has no request.
    pub http: Option<Result<HttpDraft, String>>,
    /// The names of the limits that its runs keep.
    pub limits: Vec<String>,
}

impl CachedJob {
    /// The zone of its schedule.
    pub fn zone(&self) -> Zone {
        self.rules.as_ref().map_or(Zone::UTC, |rules| rules.schedule.draft().zone())
    }
}

#[derive(Debug)]
pub struct ParsedJob {
    pub schedule: Schedule,
    pub catch_up: CatchUp,
    pub misfire: MisfirePolicy,
    pub route: RouteStrategy,
    pub route_labels: Labels,
    pub block: BlockStrategy,
    pub overlap: Overlap,
}

impl CachedJob {
    fn new(stored: StoredDefinition) -> Self {
        let rules = parse(&stored);
        let http = stored.http.as_deref().map(|text| serde_json::from_str(text).map_err(|error| error.to_string()));
        let limits = stored.limits.as_deref().map(names_of).unwrap_or_default();
        Self { stored, rules, http, limits }
    }

    /// Its id and revision.
    pub fn version(&self) -> (i64, i64) {
        (self.stored.job_id, self.stored.revision)
    }

    /// Its id and the version of its script, if it has one.
    pub fn script_version(&self) -> Option<(i64, i64)> {
        self.stored.script_type.as_ref()?;
        Some((self.stored.job_id, self.stored.script_version?))
    }

    /// The language of its script. None: it has a handler.
    pub fn script(&self) -> Option<ScriptKind> {
        self.stored.script_type.as_deref()?.parse().ok()
    }

    /// It has a graph in place of a handler.
    pub fn is_workflow(&self) -> bool {
        self.stored.graph_version.is_some()
    }

    /// Its request, as far as it can be read.
    pub fn request(&self) -> Option<&HttpDraft> {
        self.http.as_ref()?.as_ref().ok()
    }

    /// They are to be read when a run of it is marked.
    pub fn params_are_apart(&self) -> bool {
        self.stored.params == Params::Apart
    }

    /// Its memory, about: a parsed schedule takes a multiple of its text.
    fn bytes(&self) -> usize {
        let stored = &self.stored;
        let params = match &stored.params {
            Params::Here(text) => text.len(),
            Params::Apart | Params::TooLong => 0,
        };
        let texts = [
            &stored.app,
            &stored.name,
            &stored.handler,
            &stored.route_labels,
            &stored.catch_up,
            &stored.misfire,
            &stored.route,
            &stored.overlap,
            &stored.block,
        ];
        // Each text is an allocation of its own, with what the allocator adds.
        let texts: usize = texts.iter().map(|text| text.len() + 16).sum();
        let slot = 80;
        let http = stored.http.as_ref().map_or(0, |text| 2 * text.len());
        let limits = stored.limits.as_ref().map_or(0, |text| 4 * text.len());
        size_of::<Self>() + slot + params + texts + http + limits + 512 + 5 * stored.schedule_text.len()
    }

    /// Its fires are numbered: how many are left stands in its row.
    pub fn is_counted(&self) -> bool {
        let counted = |rules: &ParsedJob| rules.schedule.max_fires().is_some();
        self.rules.as_ref().is_ok_and(counted)
    }

    pub fn timing<'a>(&self, rules: &'a ParsedJob, fires_left: Option<u32>) -> PlanInput<'a> {
        PlanInput {
            schedule: &rules.schedule,
            catch_up: rules.catch_up,
            misfire: rules.misfire,
            misfire_threshold_ms: self.stored.misfire_threshold_ms,
            misfire_limit: self.stored.misfire_limit.unsigned_abs(),
            misfire_window_ms: self.stored.misfire_window_ms,
            fires_left,
        }
    }
}

fn parse(stored: &StoredDefinition) -> Result<ParsedJob, String> {
    fn word<T: std::str::FromStr<Err = impl std::fmt::Display>>(text: &str) -> Result<T, String> {
        text.parse().map_err(|error: T::Err| error.to_string())
    }
    let draft: ScheduleDraft =
        serde_json::from_str(&stored.schedule_text).map_err(|error| format!("schedule: {error}"))?;
    let facts = ScheduleContext {
        anchor_at: stored.anchor_at,
        spread_offset_seconds: stored.spread_offset.unsigned_abs(),
        calendars: stored.calendars.list(),
    };
    let schedule = Schedule::parse(&draft, &facts).map_err(|error| format!("{}: {}", error.field, error.message))?;
    Ok(ParsedJob {
        schedule,
        catch_up: word(&stored.catch_up)?,
        misfire: word(&stored.misfire)?,
        route: word(&stored.route)?,
        route_labels: word(&stored.route_labels)?,
        block: word(&stored.block)?,
        overlap: word(&stored.overlap)?,
    })
}

/// Definitions of this size in all are kept; the others are read when they are needed.
const MOST_BYTES: usize = 48 * 1024 * 1024;

pub type JobsById = HashMap<i64, Arc<CachedJob>>;

pub struct JobCache {
    store: Arc<Store>,
    jobs: Mutex<ClockCache<Arc<CachedJob>>>,
    /// Of the names of apps that the definitions hold.
    names_version: AtomicU64,
}

impl JobCache {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, jobs: Mutex::new(ClockCache::new(MOST_BYTES)), names_version: AtomicU64::new(0) }
    }

    /// The memory of what is kept, about.
    pub fn bytes(&self) -> usize {
        self.jobs.lock().weight()
    }

    /// An app's name is in the definitions of its jobs, and no part of their revisions: when one has changed, all are read again.
    pub fn invalidate_on_rename(&self, version: u64) {
        if self.names_version.swap(version, Ordering::Relaxed) != version {
            *self.jobs.lock() = ClockCache::new(MOST_BYTES);
        }
    }

    /// The apps of those of these jobs that are kept.
    pub fn apps(&self, ids: impl Iterator<Item = i64>) -> HashMap<i64, String> {
        let mut map = self.jobs.lock();
        ids.filter_map(|id| Some((id, map.get(id)?.stored.app.clone()))).collect()
    }

    /// These jobs at least at the revisions given (a scan has just read them). Missing ones do not exist any more.
    pub async fn at_revision(&self, wanted: &[(i64, i64)]) -> store::Result<JobsById> {
        let (mut found, stale) = self.split_cached(wanted);
        if !stale.is_empty() {
            found.extend(self.load(&stale).await?);
        }
        Ok(found)
    }

    /// The same for a caller that looks at many jobs once: what has to be read is not kept.
    pub async fn get_uncached(&self, wanted: &[(i64, i64)]) -> store::Result<JobsById> {
        let (mut found, stale) = self.split_cached(wanted);
        if !stale.is_empty() {
            found.extend(self.read(&stale).await?);
        }
        Ok(found)
    }

    /// Those that are here at these revisions, and the others.
    fn split_cached(&self, wanted: &[(i64, i64)]) -> (JobsById, Vec<i64>) {
        let mut found = JobsById::with_capacity(wanted.len());
        let mut stale = Vec::new();
        let mut map = self.jobs.lock();
        for (id, revision) in wanted {
            match map.get(*id).filter(|job| job.stored.revision == *revision) {
                Some(job) => drop(found.insert(*id, job.clone())),
                None => stale.push(*id),
            }
        }
        (found, stale)
    }

    /// These jobs as they are committed now. Missing ones do not exist any more.
    pub async fn current(&self, ids: &[i64]) -> store::Result<JobsById> {
        let mut found: JobsById = {
            let mut map = self.jobs.lock();
            let known = ids.iter().filter_map(|id| Some((*id, map.get(*id)?.clone())));
            known.collect()
        };
        for outdated in self.outdated(found.values()).await? {
            found.remove(&outdated.0);
        }
        let missing = |id: &&i64| !found.contains_key(id);
        let missing: Vec<i64> = ids.iter().filter(missing).copied().collect();
        if !missing.is_empty() {
            let loaded = self.load(&missing).await?;
            let mut map = self.jobs.lock();
            for gone in missing.iter().filter(|id| !loaded.contains_key(id)) {
                map.remove(*gone);
            }
            drop(map);
            found.extend(loaded);
        }
        Ok(found)
    }

    async fn load(&self, ids: &[i64]) -> store::Result<JobsById> {
        let loaded = self.read(ids).await?;
        let mut map = self.jobs.lock();
        for (id, job) in &loaded {
            // Two loads at once: the higher revision stays.
            if map.get(*id).is_none_or(|old| old.stored.revision <= job.stored.revision) {
                map.insert(*id, job.clone(), job.bytes());
            }
        }
        Ok(loaded)
    }

    /// Id and revision of those that have been edited or deleted since they were read.
    pub async fn outdated(&self, jobs: impl Iterator<Item = &Arc<CachedJob>>) -> store::Result<HashSet<(i64, i64)>> {
        let mut known: Vec<(i64, i64)> = jobs.map(|job| job.version()).collect();
        known.sort_unstable();
        known.dedup();
        self.store.jobs().outdated_definitions(&known).await
    }

    /// Those of these jobs whose parameters are apart, each with them. Long ones are read for each mark and never kept.
    pub async fn with_params(&self, jobs: impl Iterator<Item = &Arc<CachedJob>>) -> store::Result<JobsById> {
        let apart: HashSet<i64> = jobs.filter(|job| job.params_are_apart()).map(|job| job.stored.job_id).collect();
        if apart.is_empty() {
            return Ok(JobsById::new());
        }
        let apart: Vec<i64> = apart.into_iter().collect();
        let found = self.store.jobs().whole_definitions(&apart).await?;
        Ok(found.into_iter().map(|stored| (stored.job_id, Arc::new(CachedJob::new(stored)))).collect())
    }

    async fn read(&self, ids: &[i64]) -> store::Result<JobsById> {
        let mut loaded = JobsById::with_capacity(ids.len());
        for chunk in ids.chunks(500) {
            for stored in self.store.jobs().definitions(chunk).await? {
                loaded.insert(stored.job_id, Arc::new(CachedJob::new(stored)));
            }
        }
        Ok(loaded)
    }
}
