//! A workflow in a test: a graph, its facts, and one step after the other.

use carillon_scheduler::Zone;
use carillon_scheduler::workflow::{
    Advance, AfterDraft, End, Fact, Facts, Graph, IfFailed, Join, NodeDraft, NodeJob, NodeState, On, Stop,
    WorkflowDraft, WorkflowInput, advance,
};

pub const INPUT: WorkflowInput<'_> = WorkflowInput {
    params: "",
    scheduled_at: 1_751_587_200_000,
    zone: Zone::UTC,
    fire_key: "7:1751587200",
    run_id: 4711,
};

/// A workflow in short: `extract; load < extract; alarm(ignore) < load!; report(any) < load extract; drop < report*`. `!` is an edge on
/// failure, `*` one on always.
pub fn draft(text: &str) -> WorkflowDraft {
    let node = |text: &str| {
        let (head, parents) = text.split_once('<').unwrap_or((text, ""));
        let (name, word) = head.trim().split_once('(').unwrap_or((head.trim(), ")"));
        let mut node = NodeDraft::new(NodeJob::Id(1));
        match word.trim_end_matches(')') {
            "" => {}
            "any" => node.join = Join::Any,
            other => node.if_failed = other.parse::<IfFailed>().unwrap(),
        }
        node.after = parents.split_whitespace().map(after).collect();
        (name.to_owned(), node)
    };
    WorkflowDraft { output: None, nodes: text.split(';').map(node).collect() }
}

fn after(text: &str) -> AfterDraft {
    let on = match text.chars().last() {
        Some('!') => On::Failure,
        Some('*') => On::Always,
        _ => On::Success,
    };
    AfterDraft { on, ..AfterDraft::new(text.trim_end_matches(['!', '*'])) }
}

pub struct Case {
    pub graph: Graph,
    pub facts: Vec<Fact>,
    pub started: Vec<bool>,
    pub recorded: Vec<NodeState>,
    pub has_params: Vec<bool>,
    pub is_held: bool,
    pub stop: Option<Stop>,
}

impl Case {
    pub fn new(draft: &WorkflowDraft) -> Self {
        let graph = draft.graph().unwrap();
        let count = graph.nodes.len();
        Self {
            graph,
            facts: vec![Fact::NotStarted; count],
            started: vec![false; count],
            recorded: vec![NodeState::Waiting; count],
            has_params: vec![true; count],
            is_held: false,
            stop: None,
        }
    }

    pub fn short(text: &str) -> Self {
        Self::new(&draft(text))
    }

    pub fn json(text: &str) -> Self {
        Self::new(&serde_json::from_str(text).unwrap())
    }

    pub fn node(&self, name: &str) -> usize {
        self.graph.find(name).unwrap()
    }

    /// What the facts say, without any change.
    pub fn look(&self) -> Advance {
        let facts = Facts {
            nodes: &self.facts,
            started: &self.started,
            recorded: &self.recorded,
            has_params: &self.has_params,
            is_held: self.is_held,
            stop: self.stop,
        };
        advance(&self.graph, &facts, &INPUT)
    }

    /// One advance as the engine does it: starts become open runs, nodes that failed without a run become facts, states are recorded.
    /// Returns the names of the starts.
    pub fn step(&mut self) -> String {
        let Advance { nodes, start, .. } = self.look();
        for start in &start {
            assert!(!self.started[start.node], "{} is started twice", self.graph.nodes[start.node].name);
            self.facts[start.node] = Fact::Open;
            self.started[start.node] = true;
        }
        for (fact, view) in self.facts.iter_mut().zip(&nodes) {
            if *fact == Fact::NotStarted && view.state == NodeState::Failed {
                *fact = Fact::Failed { why: view.why.to_string() };
            }
        }
        self.recorded = nodes.iter().map(|node| node.state).collect();
        start.iter().map(|start| self.graph.nodes[start.node].name.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub fn set(&mut self, name: &str, fact: Fact) -> &mut Self {
        let node = self.node(name);
        self.facts[node] = fact;
        self
    }

    pub fn succeed(&mut self, name: &str, result: &str) -> String {
        self.set(name, Fact::Succeeded { result: Some(result.to_owned()) }).step()
    }

    pub fn fail(&mut self, name: &str, why: &str) -> String {
        self.set(name, Fact::Failed { why: why.to_owned() }).step()
    }

    pub fn state(&self, name: &str) -> NodeState {
        self.look().nodes[self.node(name)].state
    }

    pub fn why(&self, name: &str) -> String {
        self.look().nodes[self.node(name)].why.to_string()
    }

    pub fn end(&self) -> Option<End> {
        self.look().end
    }
}

pub fn failed(message: &str) -> Option<End> {
    Some(End::Failed { message: message.to_owned() })
}

pub fn succeeded(result: &str) -> Option<End> {
    Some(End::Succeeded { result: Some(result.to_owned()) })
}
