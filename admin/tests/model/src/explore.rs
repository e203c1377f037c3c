//! Every state that a trace can reach, and whether what must hold does.

use std::collections::HashMap;

use crate::invariants::{broken, broken_by, has_a_holder, is_settled};
use crate::rules::Scenario;
use crate::state::State;
use crate::steps::{Step, next};

/// More than this is a scenario that asks too much.
const MOST_STATES: usize = 6_000_000;

/// What was found.
#[derive(Debug)]
pub struct Report {
    pub states: usize,
    pub settled: usize,
    pub violation: Option<Violation>,
}

/// The shortest way to what must not be.
#[derive(Debug)]
pub struct Violation {
    pub what: &'static str,
    pub trace: Vec<Step>,
}

impl Report {
    /// For the message of a test.
    pub fn tell(&self) -> String {
        match &self.violation {
            None => format!("{} states, nothing broken", self.states),
            Some(violation) => {
                let trace = violation.trace.iter().map(|step| format!("\n  {step:?}"));
                format!("{}{}", violation.what, trace.collect::<String>())
            }
        }
    }
}

struct Graph {
    states: Vec<State>,
    came_by: Vec<(u32, Step)>,
    /// Ordinary steps, backwards.
    before: Vec<(u32, u32)>,
}

impl Graph {
    fn trace(&self, mut at: usize) -> Vec<Step> {
        let mut trace = vec![];
        while at != 0 {
            let (from, step) = self.came_by[at];
            trace.push(step);
            at = from as usize;
        }
        trace.reverse();
        trace
    }
}

/// Breadth first, so that the first violation has a shortest trace.
pub fn explore(scenario: &Scenario) -> Report {
    let first = State::first(scenario);
    let mut graph = Graph { states: vec![first], came_by: vec![(0, Step::Tick)], before: vec![] };
    let mut known = HashMap::from([(first, 0_u32)]);
    let mut at = 0;
    while at < graph.states.len() {
        assert!(at < MOST_STATES, "{}: more than {MOST_STATES} states", scenario.name);
        let from = graph.states[at];
        for (step, to) in next(scenario, &from) {
            let found = graph.states.len() as u32;
            let id = *known.entry(to).or_insert(found);
            if id == found {
                graph.states.push(to);
                graph.came_by.push((at as u32, step));
            }
            if step.is_ordinary() {
                graph.before.push((id, at as u32));
            }
            if let Some(what) = broken(scenario, &to).or_else(|| broken_by(&from, &to)) {
                let mut trace = graph.trace(at);
                trace.push(step);
                return report(scenario, &graph, Some(Violation { what, trace }));
            }
        }
        at += 1;
    }
    let stuck = first_stuck(scenario, &mut graph);
    report(scenario, &graph, stuck)
}

fn report(scenario: &Scenario, graph: &Graph, violation: Option<Violation>) -> Report {
    let settled = graph.states.iter().filter(|state| is_settled(scenario, state)).count();
    Report { states: graph.states.len(), settled, violation }
}

/// A state in which a holder is in office, and from which nothing ordinary leads to the end of everything.
fn first_stuck(scenario: &Scenario, graph: &mut Graph) -> Option<Violation> {
    graph.before.sort_unstable();
    let mut can_settle = vec![false; graph.states.len()];
    let mut open: Vec<u32> =
        (0..graph.states.len() as u32).filter(|id| is_settled(scenario, &graph.states[*id as usize])).collect();
    for id in &open {
        can_settle[*id as usize] = true;
    }
    while let Some(id) = open.pop() {
        let start = graph.before.partition_point(|(to, _)| *to < id);
        for (_, from) in graph.before[start..].iter().take_while(|(to, _)| *to == id) {
            if !std::mem::replace(&mut can_settle[*from as usize], true) {
                open.push(*from);
            }
        }
    }
    let stuck = (0..graph.states.len()).find(|id| !can_settle[*id] && has_a_holder(&graph.states[*id]))?;
    Some(Violation {
        what: "liveness: a holder is in office and cannot bring everything to its end",
        trace: graph.trace(stuck),
    })
}
