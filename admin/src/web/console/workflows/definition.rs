//! The graph of a job as its page and its form show it.

use carillon_scheduler::workflow::{Graph, IfFailed, NodeDraft, NodeJob, WorkflowDraft};
use carillon_store::workflow::graphs::jobs_in;
use carillon_store::{Store, VisibleApps};

use crate::web::console::workflows::edge_text::after_text;
use crate::web::console::workflows::picture::{Picture, PictureNode};
use crate::web::console::workflows::progress::{drafts, sort_after_parents};
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::locale::Language;

pub struct Definition {
    pub nodes: Vec<DefinitionLine>,
    pub picture: Option<Picture>,
    pub output: Option<String>,
}

pub struct DefinitionLine {
    pub name: String,
    pub job: JobOfNode,
    pub after: String,
    /// The template.
    pub params: Option<String>,
    /// The template of the list of its parts.
    pub for_each: Option<String>,
    pub if_failed: IfFailed,
}

impl DefinitionLine {
    /// The key of what a failure of the node means; empty: the workflow fails.
    pub fn if_failed_key(&self) -> &'static str {
        if_failed_key(self.if_failed)
    }
}

const fn if_failed_key(if_failed: IfFailed) -> &'static str {
    match if_failed {
        IfFailed::Fail => "",
        IfFailed::Ignore => "if-failed-ignore",
        IfFailed::Stop => "if-failed-stop",
    }
}

/// A node in one line: `Job: #7; After: check`.
pub fn node_text(language: Language, node: &NodeDraft) -> String {
    let job = match &node.job {
        NodeJob::Id(id) => format!("#{id}"),
        NodeJob::Key(key) => key.clone(),
    };
    let if_failed = match if_failed_key(node.if_failed) {
        "" => String::new(),
        key => language.text(key).to_string(),
    };
    let parts = [
        ("job", job),
        ("node-after", after_text(language, &node.after, node.join)),
        ("parameters", node.params.clone().unwrap_or_default()),
        ("node-for-each", node.for_each.clone().unwrap_or_default()),
        ("node-if-failed", if_failed),
    ];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    let part = |(label, text)| language.text("node-part").with("label", language.text(label)).with("text", text);
    parts.map(|it| part(it).to_string()).collect::<Vec<_>>().join("; ")
}

pub enum JobOfNode {
    /// As a form that has not been saved may name it.
    ByKey(String),
    ById(ChildJob),
}

impl JobOfNode {
    pub fn text(&self, language: &Language) -> String {
        match self {
            Self::ByKey(key) => key.clone(),
            Self::ById(ChildJob { job: Some((name, _)), .. }) => name.clone(),
            Self::ById(job) => job.label(language),
        }
    }

    /// None: it is not known, or the viewer may not see it.
    pub fn link(&self) -> Option<String> {
        match self {
            Self::ById(ChildJob { id, job: Some(_) }) => Some(format!("/jobs/{id}")),
            _ => None,
        }
    }
}

/// None: it is no graph.
///
/// # Errors
/// The database could not be asked.
pub async fn definition(
    store: &Store,
    language: Language,
    draft: &WorkflowDraft,
    apps: &VisibleApps,
) -> carillon_store::Result<Option<Definition>> {
    let Ok(graph) = draft.graph() else { return Ok(None) };
    let ids: Vec<i64> = jobs_in(draft).into_iter().collect();
    let jobs = child_jobs::by_id(store, &ids, apps).await?;
    let job = |job: &NodeJob| match job {
        NodeJob::Key(key) => JobOfNode::ByKey(key.clone()),
        NodeJob::Id(id) => {
            let known = jobs.iter().find(|job| job.id == *id).cloned();
            JobOfNode::ById(known.unwrap_or(ChildJob { id: *id, job: None }))
        }
    };
    Ok(Some(lines(language, &graph, draft, job)))
}

fn lines(language: Language, graph: &Graph, draft: &WorkflowDraft, job: impl Fn(&NodeJob) -> JobOfNode) -> Definition {
    let mut nodes: Vec<DefinitionLine> = (graph.nodes.iter())
        .map(|node| DefinitionLine {
            name: node.name.clone(),
            job: job(&node.job),
            after: after_text(language, &drafts(graph, node), node.join),
            params: node.params.as_ref().map(|template| template.text().to_owned()),
            for_each: node.for_each.as_ref().map(|template| template.text().to_owned()),
            if_failed: node.if_failed,
        })
        .collect();
    let shown = nodes.iter().map(|line| PictureNode {
        job: line.job.text(&language),
        badge: None,
        share: None,
        link: line.job.link(),
    });
    let picture = Picture::new(language, graph, shown.collect());
    sort_after_parents(&mut nodes, graph, |line| &line.name);
    Definition { picture, output: draft.output.clone(), nodes }
}
