//! The rows of `rows.tsv` and the tests that cover them.
//!
//! A row is a requirement: `000` to `004` and `6` are those of five published designs, `H` the hard cases, `I` the
//! invariants, `S` the security checklist, `J` jobs as files, `F`, `V`, `A`, `G`, `B`, `R` and `W` defects that were found in the engine, in security
//! and in use. A test names its rows in a line `covers: 003-10, H5` above it; nothing else may have one. The state of a row is `proved`, `partial: why`,
//! `open` (with a reason or without) or `n/a: why`, for one that asks nothing of the program; or it names what proves it beside or in place of tests,
//! a benchmark or faults of the fault suite, as `row_evidence.rs` describes.

use std::collections::BTreeMap;

use super::row_evidence::Evidence;
use super::sources::files;

const LEGEND: &str = include_str!("../../rows.tsv");

/// States of rows that a test may name. The last three say what the tests do not prove, or what else proves it.
const MAY_HAVE_TESTS: [&str; 4] = ["proved", "partial", "benchmark", "faults"];

/// States by row.
fn legend() -> BTreeMap<&'static str, &'static str> {
    let mut rows = BTreeMap::new();
    for line in LEGEND.lines().skip(1) {
        let [id, asks, state] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("not three columns: {line}") };
        assert!(!asks.is_empty(), "{line}");
        assert!(rows.insert(id, state).is_none(), "{id} is there twice");
    }
    rows
}

/// Places of the tests that cover a row, by row; and the comments that stand above no test.
fn covered() -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    let (mut places, mut stray) = (BTreeMap::<String, Vec<String>>::new(), vec![]);
    for (path, text) in files("").into_iter().filter(|(path, _)| path.ends_with(".rs")) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(ids) = line.strip_prefix("// covers: ") else { continue };
            let place = format!("{path}:{}", index + 1);
            if !is_test(&lines[index + 1..]) {
                stray.push(format!("{place}: a comment `covers` stands above no test"));
            }
            for id in ids.split(", ") {
                places.entry(id.to_owned()).or_default().push(place.clone());
            }
        }
    }
    (places, stray)
}

/// Whether the next item is a test: by its attributes, or as one of `databases!`.
pub fn is_test(lines: &[&str]) -> bool {
    let is_before = |line: &&&str| line.is_empty() || line.starts_with("//") || line.starts_with("#[");
    let has_attribute = lines.iter().take_while(is_before).any(|line| line.starts_with("#[") && line.contains("test"));
    let item = lines.iter().find(|line| !is_before(line));
    has_attribute || item.is_some_and(|item| item.starts_with("async fn ") && item.contains("(db: &TestDatabase)"))
}

#[test]
fn tests_and_the_states_of_their_rows_agree() {
    let (legend, (covered, mut wrong)) = (legend(), covered());
    for (id, places) in &covered {
        let place = places.join(", ");
        match legend.get(id.as_str()) {
            None => wrong.push(format!("{place}: row {id} is not in rows.tsv")),
            Some(state)
                if MAY_HAVE_TESTS.iter().any(|word| *state == *word || state.starts_with(&format!("{word}: "))) => {}
            Some(state) => wrong.push(format!("{place}: row {id} has a test, but its state is `{state}`")),
        }
    }
    let evidence = Evidence::read();
    for (id, state) in legend {
        let (_, more) = state.split_once(": ").unwrap_or_default();
        match state.split_once(": ").map_or(state, |(state, _)| state) {
            "proved" if !covered.contains_key(id) => wrong.push(format!("row {id} is proved, but no test covers it")),
            "partial" | "n/a" if !state.contains(": ") => wrong.push(format!("row {id} does not say why")),
            "benchmark" => wrong.extend(evidence.benchmark(more).err().map(|why| format!("row {id}: {why}"))),
            "faults" => wrong.extend(evidence.faults(more).err().map(|why| format!("row {id}: {why}"))),
            "proved" | "partial" | "open" | "n/a" => {}
            _ => wrong.push(format!("row {id} has no state `{state}`")),
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
