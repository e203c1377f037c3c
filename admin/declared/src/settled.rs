//! Apps for which a round would find what the one before has found.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use carillon_scheduler::Millis;
use carillon_store::DeclarationSetting;
use carillon_store::app::declared::declarations::Declaration;
use foldhash::HashMap;
use parking_lot::Mutex;

/// An app is looked at again after this time, though nothing has changed.
const AGAIN_MS: Millis = 600_000;
/// The same where some of the code was refused: what it names, such as a calendar, may be there by then.
const REFUSED_AGAIN_MS: Millis = 60_000;

/// The same for all rounds of this process.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// What the outcome of a round over an app depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    setting: &'static str,
    /// The digests of live declarations, and whether each was refused.
    live: Vec<(String, bool)>,
    /// The number of jobs of the app and a hash of their ids, keys and revisions.
    jobs: (usize, u64),
}

/// In memory of this node.
#[derive(Default)]
pub struct Settled {
    /// By app: what was seen, and until when that counts.
    apps: Mutex<HashMap<i64, (Seen, Millis)>>,
}

impl Seen {
    pub fn new(setting: DeclarationSetting, live: &[Declaration], jobs: &[(i64, Option<String>, i64)]) -> Self {
        let live = live.iter().map(|it| (it.digest.clone(), it.problem.is_empty())).collect();
        Self { setting: setting.as_str(), live, jobs: (jobs.len(), HASHER.hash_one(jobs)) }
    }
}

impl Settled {
    pub fn is_settled(&self, app_id: i64, seen: &Seen, now: Millis) -> bool {
        self.apps.lock().get(&app_id).is_some_and(|(known, until)| known == seen && now < *until)
    }

    /// A round has left nothing to do. `is_complete`: none of the code was refused.
    pub fn note(&self, app_id: i64, seen: Seen, is_complete: bool, now: Millis) {
        let lasts = if is_complete { AGAIN_MS } else { REFUSED_AGAIN_MS };
        self.apps.lock().insert(app_id, (seen, now + lasts));
    }

    /// Another node does the rounds.
    pub fn clear(&self) {
        self.apps.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_is_settled_until_something_changes_or_the_time_is_over() {
        let settled = Settled::default();
        let job = |key: &str, revision| (1, Some(key.to_owned()), revision);
        let seen = |jobs: &[_]| Seen::new(DeclarationSetting::Apply, &[], jobs);
        assert!(!settled.is_settled(7, &seen(&[job("a", 1)]), 0));
        settled.note(7, seen(&[job("a", 1)]), true, 0);
        assert!(settled.is_settled(7, &seen(&[job("a", 1)]), AGAIN_MS - 1));
        assert!(!settled.is_settled(7, &seen(&[job("a", 1)]), AGAIN_MS));
        assert!(!settled.is_settled(8, &seen(&[job("a", 1)]), 0), "another app");
        for other in [vec![], vec![job("a", 2)], vec![job("b", 1)], vec![job("a", 1), (2, None, 1)]] {
            assert!(!settled.is_settled(7, &seen(&other), 0), "{other:?}");
        }
        assert!(!settled.is_settled(7, &Seen::new(DeclarationSetting::Report, &[], &[job("a", 1)]), 0));
        settled.note(7, seen(&[]), false, 0);
        assert!(!settled.is_settled(7, &seen(&[]), REFUSED_AGAIN_MS), "a refused job is tried again sooner");
        settled.note(7, seen(&[]), true, 0);
        settled.clear();
        assert!(!settled.is_settled(7, &seen(&[]), 1));
    }
}
