//! From a [`WorkflowDraft`] to a [`Graph`], or an error for each wrong member.

use std::collections::{BTreeSet, HashMap};

use super::super::definition::{AfterDraft, NodeDraft, NodeJob, Op, Test, WorkflowDraft};
use super::super::graph::{Edge, Graph, Node};
use super::super::limits::{DEFINITION_BYTES, EDGES, NODE_NAME_CHARS, NODES, TESTS};
use super::super::template::Template;
use super::super::value_path::check_path;
use super::circles;
use crate::checks::check_number;
use crate::field_error::FieldError;
use crate::job::limits::JOB_IDS;
use crate::job::{check_key, validate_app_name};

impl WorkflowDraft {
    /// Checks every member.
    ///
    /// # Errors
    /// One for each fault; the fields are spelled as `workflow.nodes.load.after[0].node`.
    pub fn graph(&self) -> Result<Graph, Vec<FieldError>> {
        let mut check = Check::new(self);
        check.size();
        let nodes: Vec<Node> = (0..self.nodes.len()).map(|position| check.node(position)).collect();
        let output = check.template("workflow.output", self.output.as_deref());
        let parents: Vec<Vec<usize>> =
            nodes.iter().map(|node| node.after.iter().map(|edge| edge.from).collect()).collect();
        check.ancestors(&nodes, &parents);
        match circles::order(&parents) {
            Ok(order) if check.errors.is_empty() => Ok(Graph::new(nodes, output, order)),
            Ok(_) => Err(check.errors),
            Err(circles) => {
                check.circles(&nodes, &circles);
                Err(check.errors)
            }
        }
    }
}

/// The faults of a draft.
struct Check<'a> {
    draft: &'a WorkflowDraft,
    positions: HashMap<&'a str, usize>,
    errors: Vec<FieldError>,
}

impl<'a> Check<'a> {
    fn new(draft: &'a WorkflowDraft) -> Self {
        let mut positions = HashMap::new();
        for (position, (name, _)) in draft.nodes.iter().enumerate() {
            positions.entry(name.as_str()).or_insert(position);
        }
        Self { draft, positions, errors: vec![] }
    }

    fn check(&mut self, field: &str, result: Result<(), String>) {
        self.errors.extend(result.err().map(|message| FieldError::new(field, message)));
    }

    /// What is too large as a whole.
    fn size(&mut self) {
        let nodes = self.draft.nodes.len();
        let edges: usize = self.draft.nodes.iter().map(|(_, node)| node.after.len()).sum();
        self.check("workflow.nodes", check_count(nodes, edges));
        let bytes = serde_json::to_string(self.draft).map_or(0, |text| text.len());
        self.check("workflow", check_bytes(bytes));
    }

    fn node(&mut self, position: usize) -> Node {
        let (name, draft) = &self.draft.nodes[position];
        let field = format!("workflow.nodes.{name:.64}");
        self.check(&field, check_node_name(name));
        if self.positions[name.as_str()] != position {
            self.check(&field, Err("is given twice".to_owned()));
        }
        self.check(&format!("{field}.job"), check_job(&draft.job));
        let params = self.template(&format!("{field}.params"), draft.params.as_deref());
        let for_each = self.template(&format!("{field}.for_each"), draft.for_each.as_deref());
        if draft.for_each.is_some() && draft.params.is_some() {
            let message = "cannot stand beside `params`: each member of the list is the parameters of a part";
            self.check(&format!("{field}.for_each"), Err(message.to_owned()));
        }
        let after = draft.after.iter().enumerate().filter_map(|(at, after)| self.edge(&field, name, draft, at, after));
        let after = after.collect();
        Node {
            name: name.to_owned(),
            job: draft.job.clone(),
            params,
            for_each,
            after,
            join: draft.join,
            if_failed: draft.if_failed,
        }
    }

    fn template(&mut self, field: &str, text: Option<&str>) -> Option<Template> {
        match Template::parse(text?, |name| self.positions.get(name).copied()) {
            Ok(template) => Some(template),
            Err(errors) => {
                self.errors.extend(errors.into_iter().map(|message| FieldError::new(field, message)));
                None
            }
        }
    }

    fn edge(&mut self, field: &str, name: &str, draft: &NodeDraft, at: usize, after: &AfterDraft) -> Option<Edge> {
        let field = format!("{field}.after[{at}]");
        let from = self.positions.get(after.node.as_str()).copied();
        let fault = match from {
            None => Err(format!("there is no node `{:.64}`", after.node)),
            Some(_) if after.node == name => Err("a node cannot come after itself".to_owned()),
            Some(_) if draft.after[..at].iter().any(|other| is_repeated(other, after)) => {
                Err(format!("`{}` is given twice for `{}`", after.node, after.on))
            }
            Some(_) => Ok(()),
        };
        let is_right = fault.is_ok();
        self.check(&format!("{field}.node"), fault);
        if after.when.len() > TESTS {
            let message = format!("has {} tests; at most {TESTS} are allowed", after.when.len());
            self.check(&format!("{field}.when"), Err(message));
        }
        for (number, test) in after.when.iter().enumerate() {
            let field = format!("{field}.when[{number}]");
            self.check(&format!("{field}.path"), check_path(&test.path));
            self.check(&format!("{field}.in"), check_list(test));
        }
        Some(Edge { from: from.filter(|_| is_right)?, on: after.on, when: after.when.clone() })
    }

    /// A template can read a node only if that has ended for certain.
    fn ancestors(&mut self, nodes: &[Node], parents: &[Vec<usize>]) {
        for (position, node) in nodes.iter().enumerate() {
            let is_before = ancestors(parents, position);
            for (member, template) in [("params", &node.params), ("for_each", &node.for_each)] {
                let named = template.iter().flat_map(Template::nodes).filter(|&other| !is_before[other]);
                for other in named.collect::<BTreeSet<usize>>() {
                    let message =
                        format!("the template names the node `{}`, which does not come before it", nodes[other].name);
                    self.check(&format!("workflow.nodes.{}.{member}", node.name), Err(message));
                }
            }
        }
    }

    fn circles(&mut self, nodes: &[Node], circles: &[Vec<usize>]) {
        for circle in circles {
            let names: Vec<&str> = circle.iter().chain(circle.first()).map(|&node| nodes[node].name.as_str()).collect();
            self.check("workflow.nodes", Err(format!("the nodes form a circle: {}", shortened(&names).join(" -> "))));
        }
    }
}

/// Two edges from one parent are an "or" if their tests differ; otherwise one of them is of no use.
fn is_repeated(one: &AfterDraft, other: &AfterDraft) -> bool {
    one.node == other.node
        && one.on == other.on
        && (one.when == other.when || one.when.is_empty() || other.when.is_empty())
}

fn ancestors(parents: &[Vec<usize>], node: usize) -> Vec<bool> {
    let mut is_before = vec![false; parents.len()];
    let mut left = parents[node].clone();
    while let Some(parent) = left.pop() {
        if !std::mem::replace(&mut is_before[parent], true) {
            left.extend(&parents[parent]);
        }
    }
    is_before
}

/// The names of a circle, at most 20 of them.
fn shortened<'a>(names: &[&'a str]) -> Vec<&'a str> {
    match names.len() {
        0..=20 => names.to_vec(),
        count => [&names[..18], &["…"], &names[count - 1..]].concat(),
    }
}

fn check_count(nodes: usize, edges: usize) -> Result<(), String> {
    match (nodes, edges) {
        (0, _) => Err("a workflow needs at least one node".to_owned()),
        (count, _) if count > NODES => Err(format!("has {count} nodes; at most {NODES} are allowed")),
        (_, count) if count > EDGES => Err(format!("has {count} edges; at most {EDGES} are allowed")),
        _ => Ok(()),
    }
}

fn check_bytes(bytes: usize) -> Result<(), String> {
    match bytes {
        0..=DEFINITION_BYTES => Ok(()),
        _ => Err(format!("has {bytes} bytes; at most {DEFINITION_BYTES} (256 KiB) are allowed")),
    }
}

/// Names are DNS labels, so that they need no quotes in templates, addresses and pictures.
fn check_node_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match name.chars().count() {
        0 => Err("a node needs a name".to_owned()),
        count if count > NODE_NAME_CHARS => {
            Err(format!("a name has 1 to {NODE_NAME_CHARS} characters, this has {count}"))
        }
        _ => match name.chars().find(|&c| !is_allowed(c)) {
            Some(wrong) => Err(format!("{wrong:?} is not allowed; a name has lower case letters, digits and `-`")),
            None if name.starts_with('-') || name.ends_with('-') => {
                Err("a name begins and ends with a letter or a digit".to_owned())
            }
            None => Ok(()),
        },
    }
}

fn check_job(job: &NodeJob) -> Result<(), String> {
    match (job, job.app_and_key()) {
        (NodeJob::Id(id), _) => check_number(*id, &JOB_IDS, ""),
        (_, None) => Ok(()),
        (_, Some((_, ""))) => Err("names no job; write its number, its key, or `app/key`".to_owned()),
        (_, Some((app, key))) => app.map_or(Ok(()), validate_app_name).and_then(|()| check_key(key)),
    }
}

fn check_list(test: &Test) -> Result<(), String> {
    match &test.op {
        Op::In(values) if values.is_empty() => Err("needs at least one value".to_owned()),
        _ => Ok(()),
    }
}
