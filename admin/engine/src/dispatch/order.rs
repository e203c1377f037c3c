//! The order in which runs that are due together are marked and sent.

use foldhash::{HashMap, HashMapExt as _};

/// Apps with few runs first. Otherwise the few runs of one app wait for the marks and requests of an app that has thousands in
/// the same second. The runs of one app keep their order.
pub fn small_apps_first<T>(runs: &mut [T], app: impl Fn(&T) -> &str) {
    let mut sizes: HashMap<String, usize> = HashMap::new();
    for run in &*runs {
        match sizes.get_mut(app(run)) {
            Some(size) => *size += 1,
            None => drop(sizes.insert(app(run).to_owned(), 1)),
        }
    }
    if sizes.len() > 1 {
        runs.sort_by_key(|run| sizes[app(run)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_a_small_app_go_before_the_burst_of_another() {
        let mut runs = [("large", 1), ("large", 2), ("small", 3), ("large", 4)];
        small_apps_first(&mut runs, |(app, _)| app);
        assert_eq!(runs, [("small", 3), ("large", 1), ("large", 2), ("large", 4)]);
    }
}
