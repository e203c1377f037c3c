//! The demands of published executors in `demands.tsv`, and the tests that prove them.

use std::collections::HashSet;

use super::rows::is_test;
use super::sources::files;

const DEMANDS: &str = include_str!("../../demands.tsv");
const EXECUTORS: &str = include_str!("../../../docs/executors.md");

/// Names of all tests.
fn tests() -> HashSet<String> {
    let mut names = HashSet::new();
    for text in files("").into_iter().filter(|(path, _)| path.ends_with(".rs")).map(|(_, text)| text) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
            let name = function.and_then(|function| function.split_once('(')).map(|(name, _)| name);
            // The attributes of a function are on the lines before it.
            let from = lines[..index].iter().rposition(|line| !line.starts_with("#[")).map_or(0, |last| last + 1);
            if let Some(name) = name.filter(|_| is_test(&lines[from..])) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn each_demand_of_published_executors_has_tests_that_exist() {
    let (tests, mut numbers) = (tests(), vec![]);
    for line in DEMANDS.lines().skip(1) {
        let [number, demand, proofs] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}")
        };
        assert!(!demand.is_empty(), "{line}");
        numbers.push(number.parse::<usize>().unwrap());
        for name in proofs.split(", ") {
            assert!(tests.contains(name), "demand {number}: there is no test {name:?}");
        }
    }
    assert_eq!(numbers, (1..=31).collect::<Vec<_>>());
}

#[test]
fn the_document_names_the_clients_that_do_not_check_the_token() {
    let line = EXECUTORS.lines().find(|line| line.contains("do not check the access token")).unwrap_or_default();
    for client in ["pyxxl", "pyxxljob", "xxl-job-executor-go"] {
        assert!(line.contains(client), "{client}: {line}");
    }
}
