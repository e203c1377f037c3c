//! Calendars in the versions that a job's revision is planned with, and those that are parsed already.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use carillon_scheduler::Calendar;
use foldhash::HashMap;

/// A version of a calendar.
pub type VersionKey = (i64, i64);

/// The calendars that a schedule names, each in one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendars {
    pub(crate) keys: Vec<VersionKey>,
    list: Vec<Arc<Calendar>>,
}

impl Calendars {
    /// For the planner.
    pub fn list(&self) -> &[Arc<Calendar>] {
        &self.list
    }

    /// The calendars with these names.
    pub fn only(&self, names: &[String]) -> Self {
        let named = |calendar: &Calendar| names.contains(&calendar.name);
        let both = self.keys.iter().zip(&self.list);
        let (keys, list) =
            both.filter(|(_, calendar)| named(calendar)).map(|(key, calendar)| (*key, calendar.clone())).unzip();
        Self { keys, list }
    }

    pub(crate) fn push(&mut self, key: VersionKey, calendar: Arc<Calendar>) {
        self.keys.push(key);
        self.list.push(calendar);
    }

    /// The versions by name, as the audit shows them.
    pub(crate) fn versions(&self) -> serde_json::Value {
        let both = self.keys.iter().zip(&self.list);
        both.map(|((_, version), calendar)| (calendar.name.clone(), serde_json::json!(version)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

/// Parsed versions, as long as they are in use: a version never changes.
#[derive(Default)]
pub struct Parsed(Mutex<HashMap<VersionKey, Weak<Calendar>>>);

impl Parsed {
    pub(crate) fn get(&self, key: VersionKey) -> Option<Arc<Calendar>> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.get(&key).and_then(Weak::upgrade)
    }

    pub(crate) fn keep(&self, key: VersionKey, calendar: &Arc<Calendar>) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= 1000 {
            map.retain(|_, calendar| calendar.strong_count() > 0);
        }
        map.insert(key, Arc::downgrade(calendar));
    }
}
