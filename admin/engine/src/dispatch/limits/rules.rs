//! The limits and the weights of apps, as this node last read them: once a second, and when a change comes through this node.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::run::limit::MAX_WEIGHT;
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::context::Context;
use crate::job_cache::CachedJob;
use carillon_store as store;
use carillon_store::LimitRule;

/// How often they are read at most for jobs that name unknown ones.
const FRESH: Duration = Duration::from_secs(1);

/// The limits of one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LimitSet {
    by_id: HashMap<i64, LimitRule>,
    /// By app and name; 0: shared.
    by_name: HashMap<(i64, String), i64>,
    /// Those that hold for all jobs of an app.
    of_apps: HashMap<i64, Vec<i64>>,
    weights: HashMap<i64, u32>,
}

impl LimitSet {
    fn new(rules: Vec<LimitRule>, weights: Vec<(i64, i32)>) -> Self {
        let mut set = Self::default();
        for rule in rules {
            let app_id = rule.app_id.unwrap_or(0);
            if rule.all_jobs {
                set.of_apps.entry(app_id).or_default().push(rule.id);
            }
            set.by_name.insert((app_id, rule.name.clone()), rule.id);
            set.by_id.insert(rule.id, rule);
        }
        let weight = |(app_id, weight): (i64, i32)| (app_id, u32::try_from(weight).unwrap_or(1).clamp(1, MAX_WEIGHT));
        set.weights = weights.into_iter().map(weight).collect();
        set
    }

    pub fn get(&self, id: i64) -> Option<&LimitRule> {
        self.by_id.get(&id)
    }

    pub fn weight(&self, app_id: i64) -> u32 {
        self.weights.get(&app_id).copied().unwrap_or(1)
    }

    /// The runs of a job keep limits.
    pub fn concerns(&self, job: &CachedJob) -> bool {
        !job.limits.is_empty() || self.of_apps.contains_key(&job.stored.app_id)
    }

    /// The limits of a job's runs, ascending. An app's own limit goes before a shared one of the same name. None: it names one that is not
    /// known here yet.
    pub fn of_job(&self, job: &CachedJob) -> Option<Vec<&LimitRule>> {
        let app_id = job.stored.app_id;
        let named = |name: &String| {
            let own = self.by_name.get(&(app_id, name.clone()));
            own.or_else(|| self.by_name.get(&(0, name.clone()))).copied()
        };
        let mut ids = job.limits.iter().map(named).collect::<Option<Vec<i64>>>()?;
        ids.extend(self.of_apps.get(&app_id).into_iter().flatten());
        ids.sort_unstable();
        ids.dedup();
        Some(ids.iter().filter_map(|id| self.by_id.get(id)).collect())
    }
}

pub struct LimitRules {
    pub(crate) cx: Arc<Context>,
    pub(crate) set: Mutex<Arc<LimitSet>>,
    /// When they were read, on the monotonic clock.
    pub(crate) read_at: Mutex<Option<Duration>>,
    /// One reads at a time: an earlier answer never replaces a later one.
    pub(crate) reading: tokio::sync::Mutex<()>,
}

impl LimitRules {
    /// Whether they are others than before.
    pub async fn refresh(&self) -> store::Result<bool> {
        let _reading = self.reading.lock().await;
        let now = self.cx.clock.monotonic();
        let rules = self.cx.store.limits().in_force().await?;
        let weights = if rules.is_empty() { vec![] } else { self.cx.store.apps().weights().await? };
        let new = LimitSet::new(rules, weights);
        *self.read_at.lock() = Some(now);
        let mut set = self.set.lock();
        let has_changed = new != **set;
        if has_changed {
            *set = Arc::new(new);
        }
        Ok(has_changed)
    }

    /// They were read a moment ago: a limit that is not among them is not there.
    pub fn is_fresh(&self) -> bool {
        self.read_at.lock().is_some_and(|at| self.cx.clock.monotonic() < at + FRESH)
    }

    pub fn current(&self) -> Arc<LimitSet> {
        self.set.lock().clone()
    }
}
