//! The protocol of workflows as it is breaks nothing; each rule that is taken away is missed.

use carillon_model::explore;
use carillon_model::workflow::rules::{Shape, Workflow, WorkflowRules};

const DIAMOND: Workflow = Workflow { name: "diamond", unknown_commits: 1, lost: 1, ..Workflow::QUIET };
const KILLS: Workflow = Workflow { name: "kills", kills: 1, crashes: 1, unknown_commits: 1, ..Workflow::QUIET };
const CRASHES: Workflow = Workflow { name: "crashes", crashes: 1, lost: 1, ..Workflow::QUIET };
/// A workflow as a node of another one.
const NESTED: Workflow = Workflow { name: "nested", shape: Shape::Nested, ..Workflow::QUIET };
const NESTED_KILLS: Workflow = Workflow { name: "nested kills", kills: 1, ..NESTED };
const NESTED_LOST: Workflow = Workflow { name: "nested lost", lost: 1, ..NESTED };
const NESTED_CRASHES: Workflow = Workflow { name: "nested crashes", crashes: 1, ..NESTED };

fn holds(scenario: &Workflow) -> usize {
    let report = explore(scenario);
    println!("{}: {}, {} of them settled", scenario.name, report.tell(), report.settled);
    assert!(report.violation.is_none(), "{}", report.tell());
    assert!(report.settled > 0, "nothing ever ends");
    report.states
}

/// Without the rule something breaks, and it is this.
fn misses(scenario: &Workflow, rules: WorkflowRules, what: &str) {
    let report = explore(&Workflow { rules, ..*scenario });
    println!("{}", report.tell());
    let found = report.violation.as_ref().map_or("nothing", |violation| violation.what);
    assert!(found.starts_with(what), "expected {what}, found {}", report.tell());
}

// covers: I14
#[test]
fn nothing_breaks_in_a_diamond() {
    let states = holds(&DIAMOND) + holds(&KILLS) + holds(&CRASHES);
    assert!(states > 10_000, "the traces are too short to prove anything: {states} states");
}

// covers: I14
#[test]
fn nothing_breaks_with_a_workflow_as_a_node() {
    let scenarios = [&NESTED, &NESTED_KILLS, &NESTED_LOST, &NESTED_CRASHES];
    let states: usize = scenarios.into_iter().map(holds).sum();
    assert!(states > 10_000, "the traces are too short to prove anything: {states} states");
}

#[test]
fn a_beginning_must_look_at_the_state() {
    let rules = WorkflowRules { hold_checks_state: false, ..WorkflowRules::ALL };
    misses(&DIAMOND, rules, "I14: a run has begun twice");
}

#[test]
fn the_row_of_the_run_must_be_locked() {
    let rules = WorkflowRules { row_lock: false, ..WorkflowRules::ALL };
    misses(&KILLS, rules, "I14: a node was started after the kill");
}

#[test]
fn the_plan_must_be_made_under_the_lock() {
    let rules = WorkflowRules { plan_under_lock: false, ..WorkflowRules::ALL };
    misses(&KILLS, rules, "I14: a node was started after the kill");
}

/// The lock alone lets each node start once, and so does the key alone: a second start is undone and done again without it.
#[test]
fn either_the_lock_or_the_key_lets_a_node_start_once() {
    let without_key = WorkflowRules { unique_key: false, ..WorkflowRules::ALL };
    holds(&Workflow { rules: without_key, ..DIAMOND });
    let without_lock = WorkflowRules { row_lock: false, ..WorkflowRules::ALL };
    holds(&Workflow { rules: without_lock, lost: 0, ..DIAMOND });
    let without_both = WorkflowRules { row_lock: false, unique_key: false, ..WorkflowRules::ALL };
    misses(&DIAMOND, without_both, "I14: a node was started twice");
    let planned_before = WorkflowRules { plan_under_lock: false, unique_key: false, ..WorkflowRules::ALL };
    misses(&DIAMOND, planned_before, "I14: a node was started twice");
}

#[test]
fn the_end_of_a_node_must_be_noted_with_it() {
    let rules = WorkflowRules { end_notes_what_follows: false, ..WorkflowRules::ALL };
    misses(&CRASHES, rules, "liveness");
}

#[test]
fn the_end_of_the_workflow_must_be_noted_until_it_is_written() {
    let rules = WorkflowRules { end_is_noted: false, ..WorkflowRules::ALL };
    misses(&CRASHES, rules, "liveness");
}

/// Between the finding of the end and its writing late evidence may start a node.
#[test]
fn the_end_of_the_workflow_must_look_at_its_nodes() {
    let rules = WorkflowRules { end_checks_nodes: false, ..WorkflowRules::ALL };
    misses(&DIAMOND, rules, "I14: a run has ended while a node of it runs");
}
