//! A declared workflow: a job that runs other jobs of the app as a graph.

use serde_json::{Map, Value, json};

use super::declaration::Declaration;

/// Declares a workflow: its nodes run jobs of the same app, which this program declares or which exist in the admin.
///
/// ```
/// use carillon_executor::{Declaration, Executor, Workflow};
///
/// let close = Workflow::new(Declaration::new("close-month").cron("0 0 3 1 * ?"))
///     .node("import")
///     .node("check")
///     .node("report").after(["import", "check"])
///     .node_of("mail", "send-mail").after(["report"]);
/// let builder = Executor::builder().workflow(close);
/// ```
#[derive(Clone, Debug)]
pub struct Workflow {
    declaration: Declaration,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    name: String,
    job: String,
    after: Vec<String>,
}

impl Workflow {
    /// A workflow with this declaration, or with this key.
    #[track_caller]
    pub fn new(declaration: impl Into<Declaration>) -> Self {
        Self { declaration: declaration.into(), nodes: vec![] }
    }

    /// A node that runs the job whose key is the node's name.
    #[must_use]
    pub fn node(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.node_of(name.clone(), name)
    }

    /// A node that runs the job with this key.
    #[must_use]
    pub fn node_of(mut self, name: impl Into<String>, job: impl Into<String>) -> Self {
        self.nodes.push(Node { name: name.into(), job: job.into(), after: vec![] });
        self
    }

    /// The last node runs after these nodes have succeeded.
    #[must_use]
    pub fn after<'a>(mut self, nodes: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(node) = self.nodes.last_mut() {
            node.after.extend(nodes.into_iter().map(str::to_owned));
        }
        self
    }

    /// The keys of the jobs of its nodes.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.job.as_str())
    }

    /// # Errors
    /// Nodes that are there twice, or are not there.
    pub(super) fn checked(self) -> Result<Declaration, String> {
        let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let place = format!("\"{}\" ({})", self.declaration.job.key, self.declaration.place());
        if names.is_empty() {
            return Err(format!("{place}: a workflow has at least one node"));
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if names[..index].contains(&node.name.as_str()) {
                return Err(format!("{place}: the node \"{}\" is there twice", node.name));
            }
            if let Some(missing) = node.after.iter().find(|name| !names.contains(&name.as_str())) {
                return Err(format!("{place}: \"{}\" is after \"{missing}\", which is no node", node.name));
            }
        }
        let nodes: Map<String, Value> = self.nodes.iter().map(Node::member).collect();
        Ok(self.declaration.with_workflow(json!({"nodes": nodes})))
    }
}

impl Node {
    fn member(&self) -> (String, Value) {
        let mut node = json!({"job": self.job});
        if !self.after.is_empty() {
            node["after"] = json!(self.after);
        }
        (self.name.clone(), node)
    }
}
