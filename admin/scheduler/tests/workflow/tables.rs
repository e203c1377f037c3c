//! The tables of edges and joins, row by row.

use carillon_scheduler::NodeState;
use carillon_scheduler::workflow::{AfterDraft, Fact, Join, On, Test};

use super::case::{Case, draft};

const EDGES: &str = include_str!("../workflow_edges.tsv");
const JOINS: &str = include_str!("../workflow_joins.tsv");

/// The state of the edge for `on` in a row, by the parent and the tests.
pub fn edge(parent: &str, when: &str, on: On) -> &'static str {
    let row = EDGES.lines().map(|line| line.split('\t').collect::<Vec<_>>()).find(|row| row[..2] == [parent, when]);
    row.expect("a row for each parent")[2 + on as usize]
}

/// What a node does, by the edges into it.
pub fn join(join: Join, edges: &[&str]) -> &'static str {
    if edges.is_empty() {
        return "start";
    }
    let key = [join.as_str(), &edges.join(",")];
    let row = JOINS.lines().map(|line| line.split('\t').collect::<Vec<_>>()).find(|row| row[..2] == key);
    row.expect("a row for each combination")[2]
}

/// `before; parent < before; child < parent` with one edge from the parent to the child.
fn family(parent: &str, when: &str, on: On) -> Case {
    let word = if parent == "failed_ignored" { "ignore" } else { "fail" };
    let mut draft = draft(&format!("before; parent({word}) < before; child"));
    let test = |word: &str| -> Vec<Test> {
        let text = match word {
            "none" => return vec![],
            "true" => r#"{"path":"","eq":"7"}"#,
            "false" => r#"{"path":"","eq":"8"}"#,
            _ => r#"{"path":"/rows","ne":8}"#,
        };
        vec![serde_json::from_str(text).unwrap()]
    };
    let when = when.split(',').flat_map(test).collect();
    draft.nodes[2].1.after = vec![AfterDraft { node: "parent".to_owned(), on, when }];
    let mut case = Case::new(&draft);
    let failed = || Fact::Failed { why: "7".to_owned() };
    let succeeded = || Fact::Succeeded { result: Some("7".to_owned()) };
    case.is_held = parent == "held";
    let (before, parent) = match parent {
        "waiting" => (Fact::Open, Fact::NotStarted),
        "running" => (succeeded(), Fact::Open),
        "held" => (succeeded(), Fact::NotStarted),
        "succeeded" => (succeeded(), succeeded()),
        "failed" | "failed_ignored" => (succeeded(), failed()),
        "skipped" => (succeeded(), Fact::Skipped),
        "upstream_failed" => (failed(), Fact::NotStarted),
        other => panic!("{other}"),
    };
    case.set("before", before).set("parent", parent);
    case
}

/// A child with one edge shows its state.
fn word(state: NodeState) -> &'static str {
    match state {
        NodeState::Waiting => "pending",
        NodeState::Running => "taken",
        NodeState::Skipped => "dead",
        NodeState::UpstreamFailed => "blocked",
        other => panic!("{other}"),
    }
}

#[test]
fn each_edge_is_as_the_table_says() {
    let mut cells = 0;
    for line in EDGES.lines().skip(1) {
        let row: Vec<&str> = line.split('\t').collect();
        for &on in On::ALL {
            let case = family(row[0], row[1], on);
            let parent = case.state("parent").as_str();
            assert_eq!(parent, row[0].trim_end_matches("_ignored"), "{line}");
            assert_eq!(word(case.state("child")), row[2 + on as usize], "{line}: {on}");
            cells += 1;
        }
    }
    assert_eq!(cells, 8 * 6 * 3);
}

#[test]
fn each_join_is_as_the_table_says() {
    let mut rows = 0;
    for line in JOINS.lines().skip(1) {
        let row: Vec<&str> = line.split('\t').collect();
        let edges: Vec<&str> = row[1].split(',').collect();
        let mut draft = draft("a; b; c; child");
        draft.nodes[3].1.join = row[0].parse().unwrap();
        draft.nodes[3].1.after = ["a", "b", "c"].into_iter().take(edges.len()).map(AfterDraft::new).collect();
        let mut case = Case::new(&draft);
        for (name, edge) in ["a", "b", "c"].into_iter().zip(&edges) {
            let fact = match *edge {
                "pending" => Fact::Open,
                "taken" => Fact::Succeeded { result: None },
                "dead" => Fact::Skipped,
                _ => Fact::Failed { why: String::new() },
            };
            case.set(name, fact);
        }
        let state = match case.state("child") {
            NodeState::Running => "start",
            other => other.as_str(),
        };
        assert_eq!(state, row[2], "{line}");
        let is_started = case.look().start.iter().any(|start| start.node == 3);
        assert_eq!(is_started, row[2] == "start", "{line}");
        rows += 1;
    }
    assert_eq!(rows, 2 * (4 + 16 + 64));
}
