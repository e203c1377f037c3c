//! Every state that a trace can reach, and whether what must hold does.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

/// What is walked through.
pub trait Model {
    type State: Copy + Eq + Hash;
    type Step: Copy + Debug;
    /// The last part of what is said of a state that can come to no end.
    const CANNOT_END: &'static str;

    fn name(&self) -> &'static str;
    fn first(&self) -> Self::State;
    fn next(&self, from: &Self::State) -> Vec<(Self::Step, Self::State)>;
    /// Whether the step also happens when nothing breaks and no operator intervenes.
    fn is_ordinary(step: Self::Step) -> bool;
    /// What does not hold in a state, or after a step, if anything.
    fn broken(&self, from: &Self::State, to: &Self::State) -> Option<&'static str>;
    /// Whether ordinary steps must be able to end everything from here.
    fn must_end(&self, state: &Self::State) -> bool;
    fn is_settled(&self, state: &Self::State) -> bool;
}

/// More than this is a scenario that asks too much.
const MOST_STATES: usize = 6_000_000;

/// What was found.
#[derive(Debug)]
pub struct Report<S> {
    pub states: usize,
    pub settled: usize,
    pub violation: Option<Violation<S>>,
}

/// The shortest way to what must not be.
#[derive(Debug)]
pub struct Violation<S> {
    pub what: &'static str,
    pub trace: Vec<S>,
}

impl<S: Debug> Report<S> {
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

struct Graph<M: Model> {
    states: Vec<M::State>,
    /// None: the first one.
    came_by: Vec<Option<(u32, M::Step)>>,
    /// Ordinary steps, backwards.
    before: Vec<(u32, u32)>,
}

impl<M: Model> Graph<M> {
    fn trace(&self, mut at: usize) -> Vec<M::Step> {
        let mut trace = vec![];
        while let Some((from, step)) = self.came_by[at] {
            trace.push(step);
            at = from as usize;
        }
        trace.reverse();
        trace
    }
}

/// Breadth first, so that the first violation has a shortest trace.
pub fn explore<M: Model>(model: &M) -> Report<M::Step> {
    let first = model.first();
    let mut graph: Graph<M> = Graph { states: vec![first], came_by: vec![None], before: vec![] };
    let mut known = HashMap::from([(first, 0_u32)]);
    let mut at = 0;
    while at < graph.states.len() {
        assert!(at < MOST_STATES, "{}: more than {MOST_STATES} states", model.name());
        let from = graph.states[at];
        for (step, to) in model.next(&from) {
            let found = graph.states.len() as u32;
            let id = *known.entry(to).or_insert(found);
            if id == found {
                graph.states.push(to);
                graph.came_by.push(Some((at as u32, step)));
            }
            if M::is_ordinary(step) {
                graph.before.push((id, at as u32));
            }
            if let Some(what) = model.broken(&from, &to) {
                let mut trace = graph.trace(at);
                trace.push(step);
                return report(model, &graph, Some(Violation { what, trace }));
            }
        }
        at += 1;
    }
    let stuck = first_stuck(model, &mut graph);
    report(model, &graph, stuck)
}

fn report<M: Model>(model: &M, graph: &Graph<M>, violation: Option<Violation<M::Step>>) -> Report<M::Step> {
    let settled = graph.states.iter().filter(|state| model.is_settled(state)).count();
    Report { states: graph.states.len(), settled, violation }
}

/// A state from which everything must come to its end, and from which nothing ordinary leads there.
fn first_stuck<M: Model>(model: &M, graph: &mut Graph<M>) -> Option<Violation<M::Step>> {
    graph.before.sort_unstable();
    let mut can_settle = vec![false; graph.states.len()];
    let mut open: Vec<u32> =
        (0..graph.states.len() as u32).filter(|id| model.is_settled(&graph.states[*id as usize])).collect();
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
    let stuck = (0..graph.states.len()).find(|id| !can_settle[*id] && model.must_end(&graph.states[*id]))?;
    Some(Violation { what: M::CANNOT_END, trace: graph.trace(stuck) })
}
