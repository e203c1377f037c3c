//! The label `app` of metrics: a bounded number of values, however many apps there are.

use foldhash::HashSet;
use parking_lot::Mutex;

/// A histogram has 17 series for each of them.
const MOST: usize = 200;

/// Stands for all apps that came after the first [`MOST`]. No app can have this name.
pub const OTHER: &str = "(other)";

/// The apps that this node has reported by name since its start.
#[derive(Default)]
pub struct AppLabels(Mutex<HashSet<String>>);

impl AppLabels {
    pub fn label<'a>(&self, app: &'a str) -> &'a str {
        let mut known = self.0.lock();
        if known.contains(app) {
            return app;
        }
        if known.len() == MOST {
            return OTHER;
        }
        known.insert(app.to_owned());
        app
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::app_labels::{AppLabels, MOST, OTHER};

    #[test]
    fn the_first_apps_keep_their_names_and_the_others_share_one() {
        let labels = AppLabels::default();
        let names: Vec<String> = (0..=MOST).map(|number| format!("app-{number}")).collect();
        for _ in 0..2 {
            assert_eq!(labels.label(&names[0]), names[0]);
            assert_eq!(names.iter().filter(|name| labels.label(name) == name.as_str()).count(), MOST);
            assert_eq!(labels.label(&names[MOST]), OTHER);
        }
    }
}
