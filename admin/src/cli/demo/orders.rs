//! The workflow of the demo: the orders of half a minute, with a branch, a join, and a node that runs after a failure.

use carillon_executor::{JobContext, JobError, log};
use carillon_scheduler::workflow::{AfterDraft, Bound, NodeDraft, NodeJob, On, Op, Test, WorkflowDraft};
use carillon_scheduler::{JobDraft, ScheduleDraft};
use serde_json::{Value, json};

use super::app::{APP, tags};

pub const NAME: &str = "Load the orders";

/// The jobs of its nodes, which it names by their keys.
pub fn parts() -> [JobDraft; 3] {
    let part = |key: &str, name: &str| JobDraft {
        key: key.to_owned(),
        tags: tags(&["orders"]),
        ..JobDraft::new(APP, name, key)
    };
    [
        part("extract", "Extract the orders: how many there are"),
        part("load", "Load the orders, which fails where their number is 3"),
        part("note", "Note what its parameters say"),
    ]
}

/// Loads if there are orders, else notes that there are none; reports after either; notes a failure of the loading.
pub fn workflow() -> JobDraft {
    let rows = |op| vec![Test { path: "/rows".to_owned(), op }];
    let after = |node: &str, on, when| vec![AfterDraft { node: node.to_owned(), on, when }];
    let some = after("extract", On::Success, rows(Op::Gt(Bound::Number(0.into()))));
    let none = after("extract", On::Success, rows(Op::Eq(json!(0))));
    let both = ["load", "none"].map(AfterDraft::new).to_vec();
    let nodes = [
        ("extract", node("extract", Some("{{workflow.params}}"), vec![])),
        ("load", node("load", None, some)),
        ("none", node("note", Some("no orders"), none)),
        ("report", node("note", Some("load: {{nodes.load.state}}"), both)),
        ("page", node("note", Some("the orders were not loaded"), after("load", On::Failure, vec![]))),
    ];
    JobDraft {
        workflow: Some(WorkflowDraft { output: None, nodes: nodes.map(|(name, node)| (name.to_owned(), node)).into() }),
        schedule: ScheduleDraft::fixed_rate(30),
        description:
            "A workflow with a branch, a join and a node that runs after a failure. Loading fails now and then: \
                      repeat such a run from what failed."
                .to_owned(),
        tags: tags(&["orders", "tier-1"]),
        ..JobDraft::new(APP, NAME, "")
    }
}

fn node(key: &str, params: Option<&str>, after: Vec<AfterDraft>) -> NodeDraft {
    let params = params.map(str::to_owned);
    NodeDraft { params, after, ..NodeDraft::new(NodeJob::Key(key.to_owned())) }
}

/// As many orders as the parameters say, else 0 to 4, by the number of the run.
pub async fn extract(ctx: JobContext) -> Result<String, JobError> {
    let rows = match ctx.params().trim() {
        "" => ctx.run_id().rem_euclid(5),
        given => given.parse()?,
    };
    log!(ctx, "{rows} orders");
    Ok(json!({"rows": rows}).to_string())
}

/// Takes the result of `extract`.
pub async fn load(ctx: JobContext) -> Result<String, JobError> {
    let extracted: Value = serde_json::from_str(ctx.params())?;
    log!(ctx, "loading {} orders", extracted["rows"]);
    match extracted["rows"].as_i64() {
        Some(3) => Err(JobError::new("order 3 is damaged")),
        Some(rows) => Ok(format!("loaded {rows} orders")),
        None => Err(JobError::new("the parameters have no number of rows")),
    }
}

pub async fn note(ctx: JobContext) -> Result<String, JobError> {
    log!(ctx, "{}", ctx.params());
    Ok(ctx.params().to_owned())
}
