//! Former names of apps, as this node last read them. Executors register under them, and definitions that were read before an app
//! was renamed hold them.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use carillon_store::app::rename::FormerName;
use foldhash::HashMap;
use parking_lot::Mutex;

#[derive(Default)]
pub struct AppNames {
    /// The name now, by the former one.
    current: Mutex<Arc<HashMap<String, String>>>,
    changes: AtomicU64,
}

impl AppNames {
    pub(crate) fn update(&self, former: Vec<FormerName>) {
        let next: HashMap<String, String> = former.into_iter().map(|it| (it.name, it.app)).collect();
        let mut current = self.current.lock();
        if **current != next {
            *current = Arc::new(next);
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The name of the app now; a name that no app had is itself.
    pub fn current<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.current.lock().get(name) {
            Some(current) => Cow::Owned(current.clone()),
            None => Cow::Borrowed(name),
        }
    }

    /// Grows with each change.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_name_stands_for_the_one_of_now() {
        let names = AppNames::default();
        let former =
            |name: &str, app: &str| FormerName { name: name.into(), app_id: 1, app: app.into(), created_at: 0 };
        let all = || vec![former("orders", "sales"), former("shop", "sales")];
        names.update(all());
        assert_eq!(
            ["orders", "shop", "sales", "other"].map(|name| names.current(name)),
            ["sales", "sales", "sales", "other"]
        );
        assert_eq!(names.changes(), 1);
        names.update(all());
        assert_eq!(names.changes(), 1, "nothing has changed");
        names.update(vec![]);
        assert_eq!((names.current("orders"), names.changes()), ("orders".into(), 2));
    }
}
