//! The nodes of a workflow's run as its page shows them. Of a node whose app the viewer may not see there are name and state.

use std::collections::{BTreeMap, HashMap};

use carillon_scheduler::workflow::{AfterDraft, Graph, Node, NodeState};
use carillon_scheduler::{Millis, RunState};
use carillon_store::RunView;
use carillon_store::workflow::view::{NodeProgress, WorkflowView};

use crate::web::console::badge::Badge;
use crate::web::console::workflows::decide::Decision;
use crate::web::console::workflows::edge_text::after_text;
use crate::web::console::workflows::node_badge::node_badge;
use crate::web::console::workflows::picture::{Picture, PictureNode};
use crate::web::console::workflows::share::Share;
use crate::web::locale::Message;
use crate::web::page::PageContext;
use crate::web::text::format::duration;

pub struct Progress {
    pub nodes: Vec<NodeLine>,
    pub picture: Option<Picture>,
    /// How many nodes have each state: the states in their order.
    pub counts: Vec<(Badge, usize)>,
    /// Since when a person holds it, and who.
    pub held: Option<(Millis, String)>,
    /// The run that it goes on from.
    pub prior_run_id: Option<i64>,
    /// Whether a person can hold it, or release it.
    pub can_be_held: bool,
}

pub struct NodeLine {
    pub name: String,
    pub state: NodeState,
    pub badge: Badge,
    pub job_id: i64,
    /// None: it is deleted, or the viewer may not see it.
    pub job: Option<String>,
    pub is_hidden: bool,
    pub after: String,
    /// In English, or as an executor wrote it.
    pub why: String,
    pub is_kept: bool,
    pub attempts: i64,
    /// None: its fire is not split, and has no items.
    pub share: Option<Share>,
    pub duration: Option<String>,
    pub run_id: Option<i64>,
    pub result: Option<String>,
    /// What the viewer may decide about it now.
    pub decisions: Vec<Decision>,
}

impl Progress {
    pub fn new(context: &PageContext, run: &RunView, view: WorkflowView, may_operate: bool) -> Self {
        let is_open = run.state == RunState::Running && run.kill_asked_at.is_none();
        let mut nodes: Vec<NodeLine> = (view.graph.nodes.iter().zip(&view.nodes))
            .map(|(node, progress)| NodeLine::new(context, (&view.graph, node), progress, is_open && may_operate))
            .collect();
        let shown = nodes.iter().map(|line| PictureNode {
            job: line.job_text(context).to_string(),
            badge: Some(line.badge),
            share: line.share,
            link: line.link(),
        });
        let picture = Picture::new(context.language, &view.graph, shown.collect());
        let mut counts: BTreeMap<NodeState, usize> = BTreeMap::new();
        for line in &nodes {
            *counts.entry(line.state).or_default() += 1;
        }
        sort_after_parents(&mut nodes, &view.graph, |line| &line.name);
        Self {
            picture,
            counts: counts.into_iter().map(|(state, count)| (node_badge(state), count)).collect(),
            held: view.held,
            prior_run_id: view.prior_run_id,
            can_be_held: is_open,
            nodes,
        }
    }

    /// Whether the table needs a column for what the viewer may decide.
    pub fn has_decisions(&self) -> bool {
        self.nodes.iter().any(|node| !node.decisions.is_empty())
    }
}

impl NodeLine {
    fn new(context: &PageContext, (graph, node): (&Graph, &Node), it: &NodeProgress, may_decide: bool) -> Self {
        let end = it.ended_at.or((it.state == NodeState::Running).then_some(context.now));
        Self {
            name: it.name.clone(),
            state: it.state,
            badge: node_badge(it.state),
            job_id: it.job_id,
            job: it.job.clone(),
            is_hidden: it.is_hidden,
            after: after_text(context.language, &drafts(graph, node), node.join),
            why: it.why.clone(),
            is_kept: it.is_kept,
            attempts: it.attempts,
            share: Share::of(it),
            duration: it.started_at.zip(end).map(|(start, end)| duration(context.language, end - start)),
            run_id: it.run_id,
            result: it.result.clone().filter(|text| !text.is_empty()),
            decisions: if may_decide { Decision::possible(it) } else { vec![] },
        }
    }

    pub fn job_text(&self, context: &PageContext) -> Message {
        match &self.job {
            Some(job) => context.t("job-as-named").with("name", job),
            None if self.is_hidden => context.t("job-of-another-app"),
            None => context.t("deleted-job").with("id", self.job_id),
        }
    }

    fn link(&self) -> Option<String> {
        let to_job = || self.job.is_some().then(|| format!("/jobs/{}", self.job_id));
        self.run_id.map(|id| format!("/runs/{id}")).or_else(to_job)
    }
}

/// Puts the lines of a table in an order in which each node comes after its parents.
pub fn sort_after_parents<T>(lines: &mut [T], graph: &Graph, name: impl Fn(&T) -> &str) {
    let places: HashMap<&str, usize> =
        graph.order().iter().enumerate().map(|(place, &node)| (graph.nodes[node].name.as_str(), place)).collect();
    lines.sort_by_key(|line| places.get(name(line)).copied());
}

/// The edges into a node as the definition names them.
pub fn drafts(graph: &Graph, node: &Node) -> Vec<AfterDraft> {
    let name = |from: usize| graph.nodes[from].name.clone();
    node.after.iter().map(|edge| AfterDraft { node: name(edge.from), on: edge.on, when: edge.when.clone() }).collect()
}
