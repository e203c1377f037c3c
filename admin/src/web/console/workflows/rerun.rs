//! The repetition of an ended run of a workflow: from what failed, from a node on, or as a whole.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_scheduler::workflow::{Before, Graph, Repeat, RerunFrom, repeats};
use carillon_store::workflow::view::WorkflowView;

use crate::web::access::Caller;
use crate::web::console::runs::row::RunRow;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, done, refused, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "workflows/rerun.html")]
struct Question {
    context: PageContext,
    row: RunRow,
    /// The nodes that run again if the run goes on from what failed.
    again: Vec<String>,
    /// Those that were skipped, and whose edges decide again.
    derived: Vec<String>,
    kept: Vec<String>,
    nodes: Vec<String>,
    form: Form,
}

/// `GET /runs/{id}/rerun` asks.
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    question(&state, context, *id, Form::default().with("from", "failed")).await
}

async fn question(state: &State, context: PageContext, id: i64, form: Form) -> PageResult {
    let to = format!("/runs/{id}");
    let run = state.engine.runs().get(id).await?;
    let Some(view) = state.engine.runs().workflow(id, &context.actor).await? else {
        return Ok(refused(&to, context.t("workflow-not-begun")));
    };
    if run.state.is_open() {
        return Ok(refused(&to, context.t("workflow-goes-on")));
    }
    let job = state.store.jobs().get(run.job_id).await?;
    let graph = job.and_then(|job| job.draft.workflow?.graph().ok());
    let Some(graph) = graph else {
        return Ok(refused(&to, context.t("workflow-is-gone")));
    };
    let [again, derived, kept] = from_failed(&graph, &view);
    let nodes = graph.nodes.iter().map(|node| node.name.clone()).collect();
    let status = form.status();
    let row = RunRow::new(&context, run);
    Ok(render(&Question { context, row, again, derived, kept, nodes, form }, status))
}

/// The nodes of the present definition that run again after what failed, those that are decided again, and the others.
fn from_failed(graph: &Graph, view: &WorkflowView) -> [Vec<String>; 3] {
    let before = view.nodes.iter().map(|node| {
        let is_same = graph.is_same_node(&view.graph, &node.name);
        (node.name.clone(), Before { state: node.state, is_decided: node.is_decided, is_same })
    });
    let repeats = repeats(graph, &RerunFrom::Failed, &before.collect());
    [Repeat::Run, Repeat::Derive, Repeat::Keep].map(|wanted| {
        let nodes = graph.nodes.iter().zip(&repeats).filter(|(_, repeat)| **repeat == wanted);
        nodes.map(|(node, _)| node.name.clone()).collect()
    })
}

/// `POST /runs/{id}/rerun`
pub async fn rerun(state: Shared, context: PageContext, by: Caller, id: Path<i64>, mut form: Form) -> PageResult {
    let to = format!("/runs/{}", state.engine.runs().get(*id).await?.id);
    let from = match (form.value("from"), form.given("node")) {
        ("node", Some(node)) => RerunFrom::Node(node),
        ("node", None) => {
            form.add_error("node", "Choose the node.");
            return question(&state, context, *id, form).await;
        }
        ("all", _) => RerunFrom::All,
        _ => RerunFrom::Failed,
    };
    if state.engine.runs().workflow(*id, &by.0).await?.is_none() {
        return Ok(refused(&to, context.t("workflow-not-begun")));
    }
    match state.engine.runs().rerun_workflow(*id, &from, &by.0).await {
        Ok(new) => Ok(done(&format!("/runs/{new}"), context.t("workflow-rerun-done").with("id", *id))),
        Err(Error::Invalid(errors)) => {
            let why = errors.first().map_or_else(String::new, |error| context.say(&error.message));
            Ok(refused(&to, context.t("not-repeated").with("why", why)))
        }
        Err(error) => Err(error.into()),
    }
}
