//! One pass over the graph, each node after its parents: facts stay, everything else is derived.

use super::definition::{IfFailed, On};
use super::edge::{EdgeState, ParentFacts, edge_state};
use super::facts::{Fact, Facts};
use super::for_each::{Given, read_list};
use super::graph::{Graph, Node};
use super::input::{WorkflowInput, by_name, check_filled};
use super::join::{Verdict, decide};
use super::limits::TEXT_BYTES;
use super::node_view::{NodeView, Start};
use super::state::NodeState;
use super::template::Template;
use super::why::{Parent, Why};

/// A pass, and what it has derived so far.
pub(super) struct Derivation<'a> {
    graph: &'a Graph,
    facts: &'a Facts<'a>,
    input: &'a WorkflowInput<'a>,
    /// A node that failed and has `if_failed: stop`.
    stopper: Option<usize>,
    /// Whether a node behind this one has or had a run.
    has_started_below: Vec<bool>,
    pub nodes: Vec<NodeView>,
    pub start: Vec<Start>,
}

impl<'a> Derivation<'a> {
    pub(super) fn of(graph: &'a Graph, facts: &'a Facts<'a>, input: &'a WorkflowInput<'a>) -> Self {
        let mut derivation = Self::blank(graph, facts, input);
        let has_failed = |node: usize| matches!(derivation.fact(node), Fact::Failed { .. });
        derivation.stopper = derivation.first_stopper(has_failed);
        derivation.run(None);
        if derivation.stopper.is_some() {
            return derivation;
        }
        // A node that fails for its parameters in this call stops the workflow from this call on.
        match derivation.first_stopper(|node| derivation.nodes[node].state == NodeState::Failed) {
            None => derivation,
            Some(stopper) => {
                let mut again = Self::blank(graph, facts, input);
                again.stopper = Some(stopper);
                again.run(Some((stopper, derivation.nodes[stopper].clone())));
                again
            }
        }
    }

    fn blank(graph: &'a Graph, facts: &'a Facts<'a>, input: &'a WorkflowInput<'a>) -> Self {
        let blank = NodeView { state: NodeState::Waiting, why: Why::Starts };
        let mut has_started_below = vec![false; graph.nodes.len()];
        for &node in graph.order().iter().rev() {
            let has_started = |&child: &usize| has_started(facts, child) || has_started_below[child];
            has_started_below[node] = graph.children(node).iter().any(has_started);
        }
        let nodes = vec![blank; graph.nodes.len()];
        Self { graph, facts, input, stopper: None, has_started_below, nodes, start: vec![] }
    }

    fn first_stopper(&self, has_failed: impl Fn(usize) -> bool) -> Option<usize> {
        let stops = |&node: &usize| self.graph.nodes[node].if_failed == IfFailed::Stop && has_failed(node);
        self.graph.order().iter().copied().find(stops)
    }

    fn run(&mut self, known: Option<(usize, NodeView)>) {
        for &node in self.graph.order() {
            self.nodes[node] = match &known {
                Some((failed, view)) if *failed == node => view.clone(),
                _ => self.by_fact(node).unwrap_or_else(|| self.derived(node)),
            };
        }
    }

    fn fact(&self, node: usize) -> &'a Fact {
        self.facts.nodes.get(node).unwrap_or(&Fact::NotStarted)
    }

    fn by_fact(&self, node: usize) -> Option<NodeView> {
        let (state, why) = match self.fact(node) {
            // It has a run, so another one would be a second.
            Fact::NotStarted if has_started(self.facts, node) => (NodeState::Running, Why::Runs),
            Fact::NotStarted => return None,
            Fact::Open => (NodeState::Running, Why::Runs),
            Fact::Succeeded { .. } => (NodeState::Succeeded, Why::Succeeded),
            Fact::Failed { why } => (NodeState::Failed, Why::Failed(why.clone())),
            Fact::Skipped => (NodeState::Skipped, Why::SkippedByHand),
        };
        Some(NodeView { state, why })
    }

    fn derived(&mut self, node: usize) -> NodeView {
        let edges = self.edges(node);
        let parent = |edge: usize| self.parent(self.graph.nodes[node].after[edge].from);
        let (state, why) = match decide(self.graph.nodes[node].join, &edges) {
            verdict @ (Verdict::Wait(_) | Verdict::Start) if self.is_too_late(node) => {
                (self.recorded(node), self.too_late(node, &edges, &verdict))
            }
            Verdict::Wait(edge) => match self.facts.stop {
                Some(stop) => (NodeState::Cancelled, Why::Cancelled(stop)),
                None => (NodeState::Waiting, Why::WaitsFor(parent(edge))),
            },
            Verdict::Skip(edge, branch) => (NodeState::Skipped, Why::NotTaken(parent(edge), branch)),
            Verdict::UpstreamFailed(edge) => (NodeState::UpstreamFailed, self.blocked(node, edge)),
            Verdict::Start => return self.start(node, &edges),
        };
        NodeView { state, why }
    }

    /// The edges into a node that has not started.
    fn edges(&self, node: usize) -> Vec<EdgeState> {
        let state = |edge| match edge_state(edge, &self.parent_facts(edge.from)) {
            EdgeState::Taken if edge.on == On::Success && self.stopper.is_some() => EdgeState::Blocked,
            state => state,
        };
        self.graph.nodes[node].after.iter().map(state).collect()
    }

    fn parent_facts(&self, node: usize) -> ParentFacts<'_> {
        let NodeView { state, why } = &self.nodes[node];
        let error = match why {
            Why::Failed(error) => error.clone(),
            why => why.to_string(),
        };
        ParentFacts { state: *state, if_failed: self.graph.nodes[node].if_failed, result: self.result(node), error }
    }

    fn blocked(&self, node: usize, edge: usize) -> Why {
        let from = self.graph.nodes[node].after[edge].from;
        match self.stopper {
            Some(stopper) if self.nodes[from].state == NodeState::Succeeded => Why::StoppedBy(self.parent(stopper)),
            _ => Why::Blocked(self.parent(from)),
        }
    }

    fn start(&mut self, node: usize, edges: &[EdgeState]) -> NodeView {
        let (state, why) = match (self.given(node, edges), self.facts.stop, self.facts.is_held) {
            // Whether the workflow is held or not: there is nothing to start.
            (Ok(Given::Nothing), ..) => (NodeState::Skipped, Why::EmptyList),
            (_, Some(stop), _) => (NodeState::Cancelled, Why::Cancelled(stop)),
            (_, None, true) => (NodeState::Held, Why::Held),
            (Err(what), None, false) => (NodeState::Failed, Why::Input(what)),
            (Ok(Given::Params(params)), None, false) => self.begin(Start { node, params, parts: vec![] }),
            (Ok(Given::Parts(parts)), None, false) => self.begin(Start { node, params: None, parts }),
        };
        NodeView { state, why }
    }

    fn begin(&mut self, start: Start) -> (NodeState, Why) {
        self.start.push(start);
        (NodeState::Running, Why::Starts)
    }

    /// What a node that starts is given.
    fn given(&self, node: usize, edges: &[EdgeState]) -> Result<Given, String> {
        let Node { params, for_each, after, .. } = &self.graph.nodes[node];
        let has_own = self.facts.has_params.get(node).copied().unwrap_or(true);
        if let Some(list) = for_each {
            return read_list(&self.filled(list));
        }
        let text = match params {
            Some(template) => Some(self.filled(template)),
            None if has_own => None,
            None => {
                let taken = after.iter().zip(edges).filter(|(_, state)| **state == EdgeState::Taken);
                let mut parents: Vec<usize> = taken.map(|(edge, _)| edge.from).collect();
                parents.sort_unstable();
                parents.dedup();
                self.results(&parents)
            }
        };
        text.map(|text| check_filled(&text).map(|()| text)).transpose().map(Given::Params)
    }

    fn filled(&self, template: &Template) -> String {
        template.fill(self.input, |other| (self.result(other), self.nodes[other].state))
    }

    /// The result of the only node, or those of several by name.
    fn results(&self, nodes: &[usize]) -> Option<String> {
        match nodes {
            [] => None,
            [only] => self.result(*only).map(str::to_owned),
            several => {
                Some(by_name(several.iter().map(|&node| (self.graph.nodes[node].name.as_str(), self.result(node)))))
            }
        }
    }

    /// The result of the workflow.
    pub(super) fn output(&self) -> Result<Option<String>, String> {
        if let Some(template) = &self.graph.output {
            let text = self.filled(template);
            return check_filled(&text).map(|()| Some(text));
        }
        let is_last = |&node: &usize| self.graph.children(node).is_empty();
        let last: Vec<usize> = (0..self.graph.nodes.len()).filter(is_last).collect();
        let result = match last.as_slice() {
            [only] => self.results(&[*only]),
            _ => {
                let succeeded = last.into_iter().filter(|&node| self.nodes[node].state == NodeState::Succeeded);
                let succeeded: Vec<usize> = succeeded.collect();
                Some(by_name(succeeded.iter().map(|&node| (self.graph.nodes[node].name.as_str(), self.result(node)))))
            }
        };
        // No user asked for these results, so a large one does not make the workflow fail.
        Ok(result.filter(|text| text.len() <= TEXT_BYTES))
    }

    fn result(&self, node: usize) -> Option<&'a str> {
        match self.fact(node) {
            Fact::Succeeded { result } => result.as_deref(),
            _ => None,
        }
    }

    fn recorded(&self, node: usize) -> NodeState {
        self.facts.recorded.get(node).copied().unwrap_or_default()
    }

    /// Whether the node was recorded as not run, and what comes after it has started since.
    fn is_too_late(&self, node: usize) -> bool {
        let was_decided = matches!(self.recorded(node), NodeState::Skipped | NodeState::UpstreamFailed);
        was_decided && self.has_started_below[node]
    }

    /// A node that was skipped for its empty list is that again, unless a late result has changed the list.
    fn too_late(&self, node: usize, edges: &[EdgeState], verdict: &Verdict) -> Why {
        match (self.recorded(node), verdict, self.given(node, edges)) {
            (NodeState::Skipped, Verdict::Start, Ok(Given::Nothing)) => Why::EmptyList,
            _ => Why::TooLate,
        }
    }

    fn parent(&self, node: usize) -> Parent {
        Parent { node, name: self.graph.nodes[node].name.clone() }
    }
}

fn has_started(facts: &Facts<'_>, node: usize) -> bool {
    facts.started.get(node).copied().unwrap_or(false) || facts.nodes.get(node) == Some(&Fact::Open)
}
