//! Properties of generated workflows, with an evaluator of its own: the tables.

use std::collections::BTreeSet;

use carillon_scheduler::NodeState;
use carillon_scheduler::workflow::{End, Fact, IfFailed, Join, On, Stop, WorkflowDraft};
use proptest::prelude::*;
use proptest::sample::Index;

use super::case::Case;
use super::generate::{RESULT, workflow};
use super::tables;

const ALL: &[Join] = &[Join::All];
const BOTH: &[Join] = Join::ALL;
const NO_STOP: &[IfFailed] = &[IfFailed::Fail, IfFailed::Ignore];
const ANY_REACTION: &[IfFailed] = IfFailed::ALL;

fn outcome(succeeds: bool) -> Fact {
    match succeeds {
        true => Fact::Succeeded { result: Some(RESULT.to_owned()) },
        false => Fact::Failed { why: RESULT.to_owned() },
    }
}

fn open(case: &Case) -> Vec<usize> {
    (0..case.facts.len()).filter(|&node| case.facts[node] == Fact::Open).collect()
}

/// What the tables say that a node does, by the states of its parents.
fn by_tables(case: &Case, states: &[NodeState], node: usize) -> &'static str {
    let node = &case.graph.nodes[node];
    let edge = |edge: &carillon_scheduler::workflow::Edge| {
        let parent = match (states[edge.from], case.graph.nodes[edge.from].if_failed) {
            (NodeState::Failed, IfFailed::Ignore) => "failed_ignored",
            // What was cancelled never ends.
            (NodeState::Cancelled, _) => "waiting",
            (state, _) => state.as_str(),
        };
        let holds =
            edge.when.iter().all(|test| matches!(&test.op, carillon_scheduler::workflow::Op::Eq(it) if it == RESULT));
        let when = if edge.when.is_empty() {
            "none"
        } else if holds {
            "true"
        } else {
            "false"
        };
        let state = tables::edge(parent, when, edge.on);
        let is_stopped = (0..states.len())
            .any(|other| states[other] == NodeState::Failed && case.graph.nodes[other].if_failed == IfFailed::Stop);
        if is_stopped && state == "taken" && edge.on == On::Success { "blocked" } else { state }
    };
    tables::join(node.join, &node.after.iter().map(edge).collect::<Vec<_>>())
}

/// Each node without a fact has the state of the tables, and exactly those that start are started.
fn check(case: &Case) {
    let seen = case.look();
    let states: Vec<NodeState> = seen.nodes.iter().map(|node| node.state).collect();
    let starts: BTreeSet<usize> = seen.start.iter().map(|start| start.node).collect();
    for node in (0..states.len()).filter(|&node| case.facts[node] == Fact::NotStarted) {
        if seen.nodes[node].why.to_string().starts_with("too late") {
            assert!(matches!(states[node], NodeState::Skipped | NodeState::UpstreamFailed));
            continue;
        }
        let expected = match (by_tables(case, &states, node), case.stop, case.is_held) {
            ("waiting" | "start", Some(_), _) => NodeState::Cancelled,
            ("start", None, true) => NodeState::Held,
            ("start", None, false) => NodeState::Running,
            (word, ..) => word.parse().unwrap(),
        };
        assert_eq!(states[node], expected, "node {node}");
        assert_eq!(starts.contains(&node), expected == NodeState::Running, "node {node}");
    }
    assert!(starts.iter().all(|&node| case.facts[node] == Fact::NotStarted && !case.started[node]));
    let is_open = states.iter().any(|state| !state.is_final());
    assert_eq!(seen.end.is_none(), is_open);
}

/// Ends open nodes, in the order of `picks`, until nothing is open.
fn run_to_the_end(case: &mut Case, outcomes: &[bool], picks: &[Index]) {
    for round in 0..=case.facts.len() {
        check(case);
        case.step();
        assert_eq!(case.look().start, [], "a second advance starts nothing");
        let open = open(case);
        if open.is_empty() {
            return;
        }
        let node = open[picks[round % picks.len()].index(open.len())];
        case.facts[node] = outcome(outcomes[node]);
    }
    panic!("more ends than nodes");
}

fn picks() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 10)
}

fn outcomes() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.7), 10)
}

/// What an operator, a late result or a retry does.
#[derive(Debug, Clone)]
enum Event {
    End { is_success: bool },
    Evidence,
    Retry,
    Skip,
    Hold,
    Release,
    Stop,
}

fn event() -> impl Strategy<Value = (Event, Index)> {
    let event = prop_oneof![
        8 => prop::bool::weighted(0.6).prop_map(|is_success| Event::End { is_success }),
        3 => Just(Event::Evidence),
        2 => Just(Event::Retry),
        1 => Just(Event::Skip),
        1 => Just(Event::Hold),
        1 => Just(Event::Release),
        1 => Just(Event::Stop),
    ];
    (event, any::<Index>())
}

fn apply(case: &mut Case, event: &Event, pick: Index) {
    let wanted = |fact: &Fact| match event {
        Event::End { .. } => *fact == Fact::Open,
        Event::Evidence | Event::Retry => matches!(fact, Fact::Failed { .. }),
        Event::Skip => *fact == Fact::NotStarted,
        _ => false,
    };
    let nodes: Vec<usize> = (0..case.facts.len()).filter(|&node| wanted(&case.facts[node])).collect();
    let fact = match event {
        Event::End { is_success } => outcome(*is_success),
        Event::Evidence => outcome(true),
        Event::Retry => Fact::Open,
        Event::Skip => Fact::Skipped,
        Event::Hold | Event::Release => {
            case.is_held = matches!(event, Event::Hold);
            return;
        }
        Event::Stop => {
            case.stop = Some(Stop::Killed);
            return;
        }
    };
    if !nodes.is_empty() {
        case.facts[nodes[pick.index(nodes.len())]] = fact;
    }
}

/// The nodes behind one, near and far.
fn descendants(case: &Case, node: usize) -> BTreeSet<usize> {
    let (mut found, mut left) = (BTreeSet::new(), vec![node]);
    while let Some(node) = left.pop() {
        left.extend(case.graph.children(node).iter().filter(|&&child| found.insert(child)));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_ends_changes_nothing_behind_joins_of_all(
        draft in workflow(ALL, NO_STOP), outcomes in outcomes(), one in picks(), other in picks(),
    ) {
        let [one, other] = [one, other].map(|picks| {
            let mut case = Case::new(&draft);
            run_to_the_end(&mut case, &outcomes, &picks);
            (case.started.clone(), case.look())
        });
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_workflow_ends_and_no_node_starts_before_its_join_holds(
        draft in workflow(BOTH, ANY_REACTION), outcomes in outcomes(), picks in picks(),
    ) {
        let mut case = Case::new(&draft);
        run_to_the_end(&mut case, &outcomes, &picks);
        let has_failed = (0..case.facts.len()).any(|node| {
            matches!(case.facts[node], Fact::Failed { .. }) && case.graph.nodes[node].if_failed != IfFailed::Ignore
        });
        prop_assert_eq!(matches!(case.end(), Some(End::Failed { .. })), has_failed);
        prop_assert_eq!(matches!(case.end(), Some(End::Succeeded { .. })), !has_failed);
    }

    #[test]
    fn whatever_happens_started_nodes_stay_so_and_an_end_is_reachable(
        draft in workflow(BOTH, ANY_REACTION), events in prop::collection::vec(event(), 0..30),
        outcomes in outcomes(), picks in picks(),
    ) {
        let mut case = Case::new(&draft);
        case.step();
        for (event, pick) in events {
            apply(&mut case, &event, pick);
            check(&case);
            let (before, started) = (case.recorded.clone(), case.started.clone());
            case.step();
            for node in (0..started.len()).filter(|&node| case.started[node] && !started[node]) {
                let was_decided = matches!(before[node], NodeState::Skipped | NodeState::UpstreamFailed);
                let is_late = descendants(&case, node).iter().any(|&behind| started[behind]);
                prop_assert!(!(was_decided && is_late), "node {} starts too late", node);
                prop_assert!(!case.is_held && case.stop.is_none());
            }
        }
        case.is_held = false;
        run_to_the_end(&mut case, &outcomes, &picks);
        prop_assert!(case.end().is_some());
    }

    #[test]
    fn a_definition_is_the_same_after_json(draft in workflow(BOTH, ANY_REACTION)) {
        let text = serde_json::to_string(&draft).unwrap();
        prop_assert_eq!(&serde_json::from_str::<WorkflowDraft>(&text).unwrap(), &draft);
        let graph = draft.graph().unwrap();
        let place = |node: usize| graph.order().iter().position(|&it| it == node);
        for (child, node) in graph.nodes.iter().enumerate() {
            prop_assert!(node.after.iter().all(|edge| place(edge.from) < place(child)));
        }
    }
}
