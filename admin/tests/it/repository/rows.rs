//! The rows of `rows.tsv` and the tests that cover them.
//!
//! A row is a requirement: `000` to `004` and `6` are those of five published designs, `H` the hard cases, `I` the
//! invariants, `S` the security checklist, `F`, `V`, `A`, `G` and `B` defects that were found in the engine, in security
//! and in use. A test names its rows in a line `covers: 003-10, H5` above it. The state of a row is `proved`, `partial: why`,
//! `open` (with a reason or without) or `n/a: why`, for one that asks nothing of the program.

use std::collections::BTreeMap;

use super::sources::files;

const LEGEND: &str = include_str!("../../rows.tsv");

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

/// Places of the tests that cover a row, by row.
fn covered() -> BTreeMap<String, Vec<String>> {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for (path, text) in files("").into_iter().filter(|(path, _)| path.ends_with(".rs")) {
        for (index, line) in text.lines().enumerate() {
            for id in line.trim_start().strip_prefix("// covers: ").into_iter().flat_map(|ids| ids.split(", ")) {
                places.entry(id.to_owned()).or_default().push(format!("{path}:{}", index + 1));
            }
        }
    }
    places
}

#[test]
fn tests_and_the_states_of_their_rows_agree() {
    let (legend, covered) = (legend(), covered());
    let mut wrong = vec![];
    for (id, places) in &covered {
        let place = places.join(", ");
        match legend.get(id.as_str()) {
            None => wrong.push(format!("{place}: row {id} is not in rows.tsv")),
            Some(state) if *state == "proved" || state.starts_with("partial: ") => {}
            Some(state) => wrong.push(format!("{place}: row {id} has a test, but its state is `{state}`")),
        }
    }
    for (id, state) in legend {
        match state.split_once(": ").map_or(state, |(state, _)| state) {
            "proved" if !covered.contains_key(id) => wrong.push(format!("row {id} is proved, but no test covers it")),
            "partial" | "n/a" if !state.contains(": ") => wrong.push(format!("row {id} does not say why")),
            "proved" | "partial" | "open" | "n/a" => {}
            _ => wrong.push(format!("row {id} has no state `{state}`")),
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
