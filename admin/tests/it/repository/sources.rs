//! What the compiler cannot see of the sources: where two libraries may be named, import cycles, names, secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A crate and the paths of `admin/engine/src` whose files may name it.
const NAMED_ONLY_IN: &[(&str, &[&str])] = &[("redis::", &["lease/redis"]), ("reqwest::", &["executor/", "outgoing/"])];

/// Source folders of which no file may import, directly or not, a file that imports it.
const WITHOUT_CYCLES: &[&str] = &[
    "admin/src",
    "admin/accounts/src",
    "admin/alerts/src",
    "admin/declared/src",
    "admin/engine/src",
    "admin/files/src",
    "admin/inspect/src",
    "admin/locale/src",
    "admin/scheduler/src",
    "admin/store/src",
    "executor-sdk/cron/src",
    "executor-sdk/listener/src",
    "executor-sdk/protocol/src",
    "executor-sdk/src",
    "migrations/src",
];

/// What changes jobs, apps, executors, calendars, retention, backfills and runs, and the wake-ups that belong to it: called by the
/// engine's entry points alone.
const CHANGES: &[&str] = &[
    "store.apps().create(",
    "store.apps().create_maintenance_window(",
    "store.apps().delete(",
    "store.apps().delete_maintenance_window(",
    "store.apps().deregister_executor(",
    "store.apps().deregister_start(",
    "store.apps().end_maintenance(",
    "store.apps().enter_executor(",
    "store.apps().register_executor(",
    "store.apps().remove_executor(",
    "store.apps().remove_former_name(",
    "store.apps().set_executor_draining(",
    "store.apps().set_executor_settings(",
    "store.apps().update(",
    "store.audit().record(",
    "store.backfills().cancel(",
    "store.backfills().create(",
    "store.calendars().create(",
    "store.calendars().delete(",
    "store.calendars().follow_calendars(",
    "store.calendars().follow_zone_data(",
    "store.calendars().update(",
    "store.jobs().change(",
    "store.jobs().change_each(",
    "store.jobs().create(",
    "store.jobs().create_within(",
    "store.jobs().delete(",
    "store.jobs().set_enabled(",
    "store.jobs().update(",
    "store.limits().create(",
    "store.limits().delete(",
    "store.limits().update(",
    "store.retention().set(",
    "store.runs().insert_triggered(",
    "store.runs().insert_triggered_all(",
    "store.runs().settle_by_hand(",
    // Of the engine.
    ".job_changed(",
];

/// Folders of product code, and how many entries one of their folders may have: more is no longer read at a glance.
pub const PRODUCT: &[&str] = &[
    "admin/src",
    "admin/accounts/src",
    "admin/alerts/src",
    "admin/declared/src",
    "admin/engine/src",
    "admin/inspect/src",
    "admin/locale/src",
    "admin/scheduler/src",
    "admin/store/src",
    "executor-sdk/cron/src",
    "executor-sdk/listener/src",
    "executor-sdk/macros/src",
    "executor-sdk/src",
    "templates",
];
const MOST_ENTRIES: usize = 20;

/// Names that do not say what is inside.
const EMPTY_NAMES: &[&str] = &["util", "common", "helper", "manager", "core", "misc", "base"];

/// Passwords and tokens that come with schedulers or that are tried first. Cut in two, so that this file holds none.
const KNOWN_SECRETS: &[(&str, &str)] = &[
    ("default", "_token"),
    ("123", "456"),
    ("12345", "678"),
    ("admin", "123"),
    ("change", "me"),
    ("pass", "word1"),
    ("e10adc3949ba59ab", "be56e057f20f883e"),
    ("8d969eef6ecad3c29a3a629280e686cf", "0c3f5d5a86aff3ca12020c923adc6c92"),
];

/// Path below the folder that was read, and text.
pub type Files = BTreeMap<String, String>;

/// All text files below a folder of the repository.
pub fn files(folder: &str) -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(folder);
    let (mut files, mut folders) = (Files::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            // Not what git, cargo (which marks its target folders) or a running server puts here.
            let is_foreign =
                path.ends_with(".git") || path.ends_with("carillon-data") || path.join("CACHEDIR.TAG").exists();
            if path.is_symlink() || is_foreign {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) {
                files.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text);
            }
        }
    }
    assert!(!files.is_empty(), "{folder} has no files");
    files
}

#[test]
fn redis_and_reqwest_are_named_in_their_modules_alone() {
    for (path, text) in files("admin/engine/src") {
        for (name, places) in NAMED_ONLY_IN {
            let is_named = imports(&text).iter().any(|path| format!("{path}::").starts_with(name));
            assert!(!is_named || places.iter().any(|place| path.starts_with(place)), "{path} imports {name}");
        }
    }
}

#[test]
fn no_file_imports_a_file_that_imports_it() {
    let cycles = WITHOUT_CYCLES.iter().map(|folder| (folder, cycles(&graph(&files(folder)))));
    let found: Vec<_> = cycles.filter(|(_, files)| !files.is_empty()).collect();
    assert!(found.is_empty(), "import cycles: {found:?}");
}

#[test]
fn the_program_changes_things_through_the_entry_points_alone() {
    let below: String =
        ["admin/engine/src", "admin/store/src"].iter().flat_map(|folder| files(folder).into_values()).collect();
    for call in CHANGES {
        let name = call.rsplit_once('.').unwrap().1;
        assert!(below.contains(&format!("fn {name}")), "{call} does not exist any more");
        for (path, text) in files("admin/src") {
            let text: String = text.split_whitespace().collect();
            assert!(!text.contains(call), "{path} calls {call}");
        }
    }
}

#[test]
fn methods_of_the_store_stand_in_the_view_of_their_subject() {
    for (path, text) in files("admin/store/src") {
        let is_base = ["store.rs", "views.rs"].contains(&path.as_str()) || path.starts_with("db/");
        assert!(is_base || !text.contains("\nimpl Store {"), "{path} adds methods to Store: write them for its view");
    }
}

#[test]
fn no_folder_is_crowded() {
    for folder in PRODUCT.iter().chain(&["admin/tests", "executor-sdk/tests", "migrations/src"]) {
        let mut entries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in files(folder).into_keys() {
            let parts: Vec<&str> = path.split('/').collect();
            for depth in 0..parts.len() {
                entries.entry(parts[..depth].join("/")).or_default().insert(parts[depth].to_owned());
            }
        }
        for (below, names) in entries {
            assert!(names.len() <= MOST_ENTRIES, "{folder}/{below} has {} entries", names.len());
        }
    }
}

#[test]
fn no_file_has_a_name_that_says_nothing() {
    let empty: Vec<String> =
        files("").into_keys().filter(|path| path.ends_with(".rs") && is_empty_name(path)).collect();
    assert!(empty.is_empty(), "{empty:?}");
}

// covers: S1
#[test]
fn no_file_holds_a_known_secret() {
    let found: Vec<String> = files("")
        .iter()
        .flat_map(|(path, text)| text.lines().filter_map(known_secret).map(move |secret| format!("{path}: {secret}")))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Where the engine's README describes the life of a run, and the fields under which other components have these types.
const ENGINE: &str = "admin/engine";
const RECEIVERS: &[(&str, &str)] = &[("Scanner", "self"), ("Dispatcher", "self"), ("OutcomeQueue", "outcomes")];
/// What people and programs ask for does not belong to it.
const BESIDE: &str = "src/manage/";

#[test]
fn each_step_of_a_run_is_where_the_engine_readme_says_and_called_from_one_place() {
    let files = files(ENGINE);
    let steps = steps_of_a_run(&files["README.md"]);
    assert!(steps.len() >= 19, "{steps:?}");
    for (number, step) in steps.iter().enumerate() {
        assert_eq!(step.number, number + 1, "{step:?}");
        let problem = step.problem(&files);
        assert_eq!(problem, None, "step {} of the table, {}::{}", step.number, step.component, step.function);
    }
}

/// A row of the table: ``| 5 | `Scanner::claim` (`plan/claimer`) | …``.
#[derive(Debug)]
struct RunStep<'a> {
    number: usize,
    component: &'a str,
    function: &'a str,
    paths: Vec<&'a str>,
}

fn steps_of_a_run(readme: &str) -> Vec<RunStep<'_>> {
    readme.lines().filter_map(step_of_a_run).collect()
}

fn step_of_a_run(row: &str) -> Option<RunStep<'_>> {
    let (number, rest) = row.strip_prefix("| ")?.split_once(" | ")?;
    let mut codes = rest.split(" | ").next()?.split('`').skip(1).step_by(2);
    let (component, function) = codes.next()?.split_once("::")?;
    Some(RunStep { number: number.parse().ok()?, component, function, paths: codes.collect() })
}

impl RunStep<'_> {
    fn problem(&self, files: &Files) -> Option<String> {
        let missing = self.paths.iter().find(|path| !files.contains_key(&format!("src/{path}.rs")));
        if let Some(path) = missing {
            return Some(format!("there is no {path}.rs"));
        }
        let Some(text) = self.paths.first().map(|path| &files[&format!("src/{path}.rs")]) else {
            return Some("no file is named".to_owned());
        };
        if self.function == "step" {
            let is_service = text.contains(&format!("impl Service for {}", self.component));
            return (!is_service).then(|| "it is no service there".to_owned());
        }
        let is_there =
            text.contains(&format!("impl {}", self.component)) && text.contains(&format!("fn {}(", self.function));
        if !is_there {
            return Some("it is not there".to_owned());
        }
        let field = RECEIVERS.iter().find(|(component, _)| *component == self.component).map(|(_, field)| *field);
        let own = self.component.to_lowercase();
        let call = format!("{}.{}(", field.unwrap_or(&own), self.function);
        let is_meant = |path: &str, text: &str| {
            // `self` is another component elsewhere.
            let is_own = field != Some("self") || text.contains(&format!("impl {} ", self.component));
            path.starts_with("src/") && !path.starts_with(BESIDE) && !path.ends_with("_tests.rs") && is_own
        };
        let product = files.iter().filter(|(path, text)| is_meant(path, text));
        let calls: usize = product.map(|(_, text)| before_tests(text).matches(&call).count()).sum();
        (calls != 1).then(|| format!("{calls} calls of {call}…)"))
    }
}

fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

fn is_empty_name(path: &str) -> bool {
    let words = path.strip_suffix(".rs").unwrap_or(path).split(['/', '_', '-', '.']);
    words.map(|word| word.strip_suffix('s').unwrap_or(word)).any(|word| EMPTY_NAMES.contains(&word))
}

/// A known secret that stands alone: not as part of a longer number or word.
fn known_secret(line: &str) -> Option<String> {
    KNOWN_SECRETS.iter().map(|(start, end)| format!("{start}{end}")).find(|secret| {
        line.match_indices(secret.as_str()).any(|(at, found)| {
            let stands_alone = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
            stands_alone(line[..at].chars().next_back()) && stands_alone(line[at + found.len()..].chars().next())
        })
    })
}

/// Each path that a file imports by `use`, without those of its unit tests. rustfmt gives each `use` lines of its own.
fn imports(text: &str) -> Vec<String> {
    let product = text.split("\nmod tests {").next().unwrap_or_default();
    let (mut paths, mut statement) = (vec![], String::new());
    for line in product.lines().map(str::trim) {
        let is_start = ["use ", "pub use ", "pub(crate) use "].iter().any(|start| line.starts_with(start));
        if is_start || !statement.is_empty() {
            statement.push_str(line);
        }
        if !statement.is_empty() && line.ends_with(';') {
            let tree = statement.split_once("use ").map_or("", |(_, tree)| tree.trim_end_matches(';'));
            expand("", tree, &mut paths);
            statement.clear();
        }
    }
    paths
}

/// `a::{b, c::{d, e}}` → `a::b`, `a::c::d`, `a::c::e`.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim_end_matches("::self").trim_end_matches("::*");
        return paths.push(format!("{prefix}{path}"));
    };
    let (inner, mut depth, mut start) = (rest.strip_suffix('}').unwrap_or(rest), 0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                if !part.is_empty() {
                    expand(&format!("{prefix}{head}"), part, paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Which file imports which. `a/mod.rs` is the module `a`, `lib.rs` the root.
fn graph(files: &Files) -> BTreeMap<String, BTreeSet<String>> {
    let module = |path: &str| -> Vec<String> {
        let path = path.trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
    };
    let sources = files.iter().filter(|(path, _)| path.ends_with(".rs"));
    let by_module: BTreeMap<Vec<String>, &String> = sources.clone().map(|(path, _)| (module(path), path)).collect();
    let targets = |path: &str, text: &str| -> BTreeSet<String> {
        let own = module(path);
        let absolute = imports(text).into_iter().filter_map(|import| {
            let parts: Vec<&str> = import.split("::").collect();
            let ups = parts.iter().take_while(|part| **part == "super").count();
            let base = match parts[0] {
                "crate" => vec![],
                "self" => own.clone(),
                "super" => own[..own.len().checked_sub(ups)?].to_vec(),
                child => {
                    by_module.contains_key(&[own.clone(), vec![child.to_owned()]].concat()).then(|| own.clone())?
                }
            };
            let skipped = parts.iter().take_while(|part| ["crate", "self", "super"].contains(part)).count();
            Some([base, parts[skipped..].iter().map(ToString::to_string).collect()].concat())
        });
        let file = |path: Vec<String>| (0..=path.len()).rev().find_map(|len| by_module.get(&path[..len]).copied());
        absolute.filter_map(file).filter(|target| *target != path).cloned().collect()
    };
    sources.map(|(path, text)| (path.clone(), targets(path, text))).collect()
}

/// What is left when files that import nothing, and files that nothing imports, are taken away again and again.
fn cycles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut left: BTreeSet<String> = graph.keys().cloned().collect();
    loop {
        let is_in_cycle = |file: &String| {
            let imports_one = graph[file].iter().any(|other| left.contains(other));
            imports_one && left.iter().any(|other| graph[other].contains(file))
        };
        let next: BTreeSet<String> = left.iter().filter(|file| is_in_cycle(file)).cloned().collect();
        if next.len() == left.len() {
            return left;
        }
        left = next;
    }
}

/// Each check can fail.
mod proofs {
    use super::*;

    fn example(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_cycle_over_three_files_is_found() {
        let files = example(&[
            ("lib.rs", "mod a;\npub use a::b::B;\n"),
            ("a/mod.rs", "pub mod b;\npub mod c;\n"),
            ("a/b.rs", "use super::c::{self, C};\nuse std::fmt;\n"),
            ("a/c.rs", "use crate::{\n    d::{D, E},\n};\nuse std::fmt;\n"),
            ("d.rs", "pub use crate::a::b::B;\n"),
        ]);
        let cycles = cycles(&graph(&files));
        assert_eq!(cycles.into_iter().collect::<Vec<_>>(), ["a/b.rs", "a/c.rs", "d.rs"]);
    }

    #[test]
    fn files_in_layers_are_no_cycle() {
        let files =
            example(&[("lib.rs", "mod a;\nmod b;\n"), ("a.rs", "use crate::b::B;\n"), ("b.rs", "use serde::S;\n")]);
        assert!(cycles(&graph(&files)).is_empty());
    }

    #[test]
    fn a_step_that_is_elsewhere_or_called_twice_is_found() {
        let row = "| 1 | `Marker::mark` (`dispatch/mark`) | commits | as 7 |";
        let problem = |files: &[(&str, &str)]| steps_of_a_run(row)[0].problem(&example(files));
        let marker = ("src/dispatch/mark.rs", "impl Marker {\n    pub fn mark(&self) {}\n}\n");
        let caller =
            ("src/dispatch/dispatcher.rs", "self.marker.mark(batch);\n#[cfg(test)]\nself.marker.mark(batch);\n");
        assert_eq!(problem(&[marker, caller]), None);
        assert_eq!(problem(&[caller]).unwrap(), "there is no dispatch/mark.rs");
        assert_eq!(problem(&[("src/dispatch/mark.rs", ""), caller]).unwrap(), "it is not there");
        assert_eq!(problem(&[marker]).unwrap(), "0 calls of marker.mark(…)");
        assert_eq!(problem(&[marker, caller, ("src/plan/x.rs", caller.1)]).unwrap(), "2 calls of marker.mark(…)");
        assert_eq!(problem(&[marker, caller, ("src/manage/x.rs", caller.1)]), None);
    }

    #[test]
    fn empty_names_are_found() {
        for path in ["a/utils.rs", "a/util/b.rs", "common/mod.rs", "lease_manager.rs", "helpers.rs", "core.rs"] {
            assert!(is_empty_name(path), "{path}");
        }
        assert!(!["cli/user.rs", "scheduler/src/score.rs"].iter().any(|path| is_empty_name(path)));
    }

    #[test]
    fn known_secrets_are_found() {
        let number = ["123", "456"].concat();
        assert_eq!(known_secret(&format!("('admin', '{number}')")), Some(number.clone()));
        assert_eq!(known_secret(&format!("let at = 17{number}789;")), None);
    }
}
