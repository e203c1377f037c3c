//! I14: each node of a workflow has started once where its join holds, never before, and the run has the end that its nodes give it.
//!
//! The rules of edges and joins are written down here once more. What was unknown or lost for a while may have counted as failed: where a
//! node's success may have come late, both are looked at, and what holds with either is right.

use std::collections::HashMap;

use serde_json::Value;

use crate::check::index::Index;
use crate::check::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{History, Job, RunRow, State, What, rows};

/// From the mark to the end of a node's run that is certainly no late success, ms.
const PROMPT: Millis = 1_000;
/// Nodes of one run of which both ends are looked at.
const MOST_DOUBTS: usize = 10;
/// All on one host: what two clock readings may differ by.
const CLOCK_ERROR: Millis = 20;

/// A node as the suite has defined it.
struct Node {
    edges: Vec<(usize, On)>,
    is_any: bool,
    is_ignored: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Success,
    Failure,
    Always,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Succeeded,
    Failed,
    Skipped,
    UpstreamFailed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Wait,
    Start,
    Never(End),
}

/// What the tables say of a node.
struct Fire<'a> {
    rows: Vec<&'a RunRow>,
    end: Option<End>,
    /// It may have counted as failed before it succeeded.
    is_doubtful: bool,
}

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    let ended = ends_at_executors(history);
    let mut nodes_of: HashMap<i64, Vec<&RunRow>> = HashMap::new();
    for run in history.runs.iter().filter(|run| run.cause == rows::NODE) {
        nodes_of.entry(run.fire_no >> 10).or_default().push(run);
    }
    for run in &history.runs {
        let Some(graph) = index.jobs.get(&run.job_id).and_then(|job| graph_of(job)) else {
            continue;
        };
        let rows = nodes_of.remove(&run.id).unwrap_or_default();
        let fires: Vec<Fire<'_>> = (0..graph.len()).map(|node| Fire::of(&rows, run.id, node, index)).collect();
        if !fires.iter().any(|fire| !fire.rows.is_empty()) && run.state == State::Cancelled {
            continue;
        }
        findings.total("flows", 1);
        one_run(run, &graph, &fires, findings);
        early(run, &graph, &fires, index, &ended, findings);
    }
    for run in nodes_of.into_values().flatten() {
        findings.add(Figure::Phantom, || format!("a node of no workflow: {run:?}"));
    }
}

/// The definition, in the order of the names.
fn graph_of(job: &Job) -> Option<Vec<Node>> {
    let nodes = job.draft["workflow"]["nodes"].as_object()?;
    let mut names: Vec<&str> = nodes.keys().map(String::as_str).collect();
    names.sort_unstable();
    let edge = |edge: &Value| {
        let name = edge.as_str().or_else(|| edge["node"].as_str()).unwrap_or_default();
        let on = match edge["on"].as_str() {
            Some("failure") => On::Failure,
            Some("always") => On::Always,
            _ => On::Success,
        };
        (names.iter().position(|known| *known == name).unwrap_or_default(), on)
    };
    let node = |name: &&str| Node {
        edges: nodes[*name]["after"].as_array().into_iter().flatten().map(edge).collect(),
        is_any: nodes[*name]["join"] == "any",
        is_ignored: nodes[*name]["if_failed"] == "ignore",
    };
    Some(names.iter().map(node).collect())
}

impl<'a> Fire<'a> {
    fn of(all: &[&'a RunRow], run_id: i64, node: usize, index: &Index<'_>) -> Self {
        let mut rows: Vec<&RunRow> = all.to_vec();
        rows.retain(|row| row.fire_no == (run_id << 10) + node as i64);
        rows.sort_by_key(|row| row.attempt);
        let succeeded = rows.iter().find(|row| row.state == State::Succeeded);
        let is_open = rows.iter().any(|row| row.state < State::Unknown || row.state == State::Other);
        let end = match (rows.last(), succeeded) {
            (None, _) => None,
            (Some(_), Some(_)) => Some(End::Succeeded),
            (Some(_), None) if is_open => Some(End::Open),
            (Some(_), None) => Some(End::Failed),
        };
        let is_prompt = |row: &&RunRow| {
            let is_last = rows.last().is_some_and(|last| last.id == row.id);
            let took = row.marked_at.zip(row.finished_at).map(|(marked, ended)| ended - marked);
            row.sends == 1 && is_last && took.is_some_and(|took| (0..PROMPT).contains(&took))
        };
        // The run of a workflow is never thought lost.
        let is_flow = |row: &&RunRow| index.group(row.job_id) == "flow";
        let is_doubtful = succeeded.is_some_and(|row| !is_prompt(row) && !is_flow(row));
        Self { rows, end, is_doubtful }
    }
}

/// The ends of all nodes, where those in `failed` count as failed.
fn derive(graph: &[Node], fires: &[Fire<'_>], failed: &[usize]) -> Vec<(End, Verdict)> {
    let mut all: Vec<(End, Verdict)> = vec![];
    for (place, node) in graph.iter().enumerate() {
        let edges: Vec<Edge> = node.edges.iter().map(|(from, on)| edge(all[*from].0, &graph[*from], *on)).collect();
        let verdict = join(&edges, node.is_any);
        let end = match (fires[place].end, verdict) {
            (Some(_), _) if failed.contains(&place) => End::Failed,
            (Some(end), _) => end,
            (None, Verdict::Never(end)) => end,
            (None, _) => End::Open,
        };
        all.push((end, verdict));
    }
    all
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Pending,
    Taken,
    Dead,
    Blocked,
}

fn edge(parent: End, node: &Node, on: On) -> Edge {
    match (parent, on) {
        (End::Open, _) => Edge::Pending,
        (End::Succeeded, On::Success | On::Always) => Edge::Taken,
        (End::Succeeded, On::Failure) | (End::Skipped, _) => Edge::Dead,
        (End::Failed, On::Success) if !node.is_ignored => Edge::Blocked,
        (End::Failed, _) | (End::UpstreamFailed, On::Always) => Edge::Taken,
        (End::UpstreamFailed, On::Success) => Edge::Blocked,
        (End::UpstreamFailed, On::Failure) => Edge::Dead,
    }
}

fn join(edges: &[Edge], is_any: bool) -> Verdict {
    let has = |edge: Edge| edges.contains(&edge);
    let (pending, taken, blocked) = (has(Edge::Pending), has(Edge::Taken), has(Edge::Blocked));
    match is_any {
        _ if edges.is_empty() => Verdict::Start,
        true if taken => Verdict::Start,
        _ if pending => Verdict::Wait,
        _ if blocked => Verdict::Never(End::UpstreamFailed),
        _ if taken => Verdict::Start,
        _ => Verdict::Never(End::Skipped),
    }
}

fn one_run(run: &RunRow, graph: &[Node], fires: &[Fire<'_>], findings: &mut Findings) {
    let doubtful = (0..graph.len()).filter(|node| fires[*node].is_doubtful);
    let doubtful: Vec<usize> = doubtful.take(MOST_DOUBTS).collect();
    let failed = |choice: usize| doubtful.iter().enumerate().filter(move |(bit, _)| choice & (1 << bit) != 0);
    let all: Vec<Vec<(End, Verdict)>> = (0..1_usize << doubtful.len())
        .map(|choice| derive(graph, fires, &failed(choice).map(|(_, node)| *node).collect::<Vec<_>>()))
        .collect();
    if !doubtful.is_empty() {
        findings.total("flows_in_doubt", 1);
    }
    for (node, fire) in fires.iter().enumerate() {
        let firsts = fire.rows.iter().filter(|row| row.attempt == 1 && row.part == 0).count();
        findings.total("flow_nodes", firsts.min(1));
        if firsts > 1 {
            findings.add(Figure::NodeTwice, || format!("node {node} of {run:?}: {:?}", fire.rows));
        }
        let may_start = all.iter().any(|ends| ends[node].1 == Verdict::Start);
        let may_not = all.iter().any(|ends| ends[node].1 != Verdict::Start);
        if firsts > 0 && !may_start {
            findings.add(Figure::JoinEarly, || {
                format!("node {node} of {run:?}: its join does not hold, nodes {}", texts(&all[0]))
            });
        }
        if fire.rows.is_empty() && !may_not {
            findings.add(Figure::NodeMissing, || format!("node {node} of {run:?}"));
        }
    }
    let is_right = |ends: &Vec<(End, Verdict)>| {
        let is_open = ends.iter().any(|(end, _)| *end == End::Open);
        let has_failed = ends.iter().zip(graph).any(|((end, _), node)| *end == End::Failed && !node.is_ignored);
        match run.state {
            State::Succeeded => !is_open && !has_failed,
            State::Failed => !is_open && has_failed,
            // One that is still open is stuck, which is another check's.
            state => state < State::Unknown,
        }
    };
    if !all.iter().any(is_right) {
        findings.add(Figure::FlowEnd, || format!("{run:?} with nodes {}", texts(&all[0])));
    }
}

fn texts(ends: &[(End, Verdict)]) -> String {
    ends.iter().map(|(end, _)| format!("{end:?}")).collect::<Vec<_>>().join(" ")
}

/// When each run ended last at an executor.
fn ends_at_executors(history: &History) -> HashMap<i64, Millis> {
    let mut ended = HashMap::new();
    for event in history.events.iter().filter(|event| event.what == What::End) {
        ended.insert(event.run, event.at);
    }
    ended
}

/// By the clock of the executors: no node is received before the parents that it waits for have ended.
fn early(
    run: &RunRow,
    graph: &[Node],
    fires: &[Fire<'_>],
    index: &Index<'_>,
    ended: &HashMap<i64, Millis>,
    findings: &mut Findings,
) {
    for (place, node) in graph.iter().enumerate() {
        let receipts = fires[place].rows.iter().filter_map(|row| index.first_receipt(row.id));
        let Some(received) = receipts.min() else { continue };
        // None: nothing is known of it, or it had no run.
        let end_of = |from: usize| {
            let fire = &fires[from];
            let deciding = fire.rows.iter().find(|row| row.state == State::Succeeded).or(fire.rows.last());
            deciding.filter(|_| !fire.is_doubtful).and_then(|row| ended.get(&row.id)).copied()
        };
        let ends: Vec<Option<Millis>> = node.edges.iter().map(|(from, _)| end_of(*from)).collect();
        let is_early = |end: &Option<Millis>| end.is_some_and(|end| end > received + CLOCK_ERROR);
        let is_wrong = match node.is_any {
            true => !ends.is_empty() && ends.iter().all(is_early),
            false => ends.iter().any(is_early),
        };
        findings.total("joins_timed", usize::from(!ends.is_empty()));
        if is_wrong {
            findings.add(Figure::JoinEarly, || {
                format!("node {place} of {run:?} was received at {received}, parents ended at {ends:?}")
            });
        }
    }
}
