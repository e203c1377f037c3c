//! What a person decides about a workflow that is on its way, or about one of its nodes, after a question.

use actix_web::web::{Path, Query};
use askama::Template;
use carillon_engine::manage::Error;
use carillon_scheduler::workflow::NodeState;
use carillon_store::workflow::action::WorkflowAction;
use carillon_store::workflow::view::NodeProgress;
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::console::runs::row::RunRow;
use crate::web::console::workflows::node_badge::node_badge;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageError, PageResult, done, refused, render};
use crate::web::state::{Shared, State};

/// A decision and its keys: the link to it, the question, what it means, the button, what is said afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// As the address and the API name it.
    pub word: &'static str,
    pub link: &'static str,
    question: &'static str,
    meaning: &'static str,
    button: &'static str,
    done: &'static str,
}

/// `NAME word: link, question, meaning, button, done`.
macro_rules! decisions {
    ($($name:ident $word:literal: $link:literal, $question:literal, $meaning:literal, $button:literal, $done:literal;)+) => {
        $(const $name: Decision = Decision {
            word: $word,
            link: $link,
            question: $question,
            meaning: $meaning,
            button: $button,
            done: $done,
        };)+
        const ALL: &[Decision] = &[$($name),+];
    };
}

decisions! {
    HOLD "hold": "workflow-hold", "workflow-hold-ask", "workflow-hold-text", "workflow-hold-button", "workflow-hold-done";
    RELEASE "release": "workflow-release", "workflow-release-ask", "workflow-release-text", "workflow-release-button",
        "workflow-release-done";
    RETRY "retry": "node-retry", "node-retry-ask", "node-retry-text", "node-retry-button", "node-retry-done";
    SKIP "skip": "node-skip", "node-skip-ask", "node-skip-text", "node-skip-button", "node-skip-done";
    SUCCEED "succeed": "node-succeed", "node-succeed-ask", "node-succeed-text", "node-succeed-button", "node-succeed-done";
    FAIL "fail": "node-fail", "node-fail-ask", "node-fail-text", "node-fail-button", "node-fail-done";
}

impl Decision {
    /// What can be decided about a node in its present state.
    pub fn possible(node: &NodeProgress) -> Vec<Self> {
        let has_run = node.attempts > 0;
        match node.state {
            NodeState::Failed if has_run => vec![RETRY, SUCCEED],
            NodeState::Failed => vec![SUCCEED],
            NodeState::Waiting | NodeState::Held if !has_run => vec![SKIP, SUCCEED, FAIL],
            _ => vec![],
        }
    }

    fn is_about_node(&self) -> bool {
        !matches!(*self, HOLD | RELEASE)
    }

    fn has_result(&self) -> bool {
        *self == SUCCEED
    }

    fn action(&self, node: String, result: Option<String>) -> WorkflowAction {
        match *self {
            HOLD => WorkflowAction::Hold,
            RELEASE => WorkflowAction::Release,
            RETRY => WorkflowAction::Retry { node },
            SKIP => WorkflowAction::Skip { node },
            SUCCEED => WorkflowAction::Succeed { node, result },
            _ => WorkflowAction::Fail { node },
        }
    }
}

/// What is to be decided.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    action: String,
    node: String,
}

#[derive(Template)]
#[template(path = "workflows/decide.html")]
struct Question {
    context: PageContext,
    row: RunRow,
    decision: Decision,
    node: String,
    form: Form,
}

fn find(action: &str) -> Result<Decision, PageError> {
    let found = ALL.iter().find(|decision| decision.word == action).copied();
    found.ok_or_else(|| Error::Missing("action".to_owned()).into())
}

/// `GET /runs/{id}/decide` asks.
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>, wanted: Query<Wanted>) -> PageResult {
    let Wanted { action, node } = wanted.into_inner();
    question(&state, context, *id, (&action, node), Form::default()).await
}

async fn question(
    state: &State,
    context: PageContext,
    id: i64,
    (action, node): (&str, String),
    form: Form,
) -> PageResult {
    let to = format!("/runs/{id}");
    let row = RunRow::new(&context, state.engine.runs().get(id).await?);
    let Some(view) = state.engine.runs().workflow(id, &context.actor).await? else {
        return Ok(refused(&to, context.t("workflow-not-begun")));
    };
    if !row.run.state.is_open() {
        return Ok(refused(&to, context.t("workflow-has-ended")));
    }
    let decision = find(action)?;
    if decision.is_about_node() {
        let Some(found) = view.nodes.iter().find(|it| it.name == node) else {
            return Err(Error::Missing(format!("node {node:.64?} of run {id}")).into());
        };
        if !Decision::possible(found).contains(&decision) {
            let now = context.t(node_badge(found.state).word);
            return Ok(refused(&to, context.t("node-is-by-now").with("node", node).with("state", now)));
        }
    }
    let status = form.status();
    Ok(render(&Question { context, row, decision, node, form }, status))
}

/// `POST /runs/{id}/decide`
pub async fn decide(state: Shared, context: PageContext, by: Caller, id: Path<i64>, mut form: Form) -> PageResult {
    let to = format!("/runs/{}", state.engine.runs().get(*id).await?.id);
    if state.engine.runs().workflow(*id, &by.0).await?.is_none() {
        return Ok(refused(&to, context.t("workflow-not-begun")));
    }
    let decision = find(form.value("action"))?;
    let (node, result) = (form.value("node").to_owned(), form.given("result"));
    match state.engine.runs().decide(*id, &decision.action(node.clone(), result), &by.0).await {
        Ok(()) => Ok(done(&to, context.t(decision.done).with("node", node))),
        Err(Error::Invalid(errors)) if errors.iter().all(|error| error.field == "result") => {
            form.add_errors(errors);
            question(&state, context, *id, (decision.word, node), form).await
        }
        Err(Error::Invalid(errors)) => {
            let why = errors.first().map_or_else(String::new, |error| context.say(&error.message));
            Ok(refused(&to, context.t("not-decided").with("why", why)))
        }
        Err(error) => Err(error.into()),
    }
}
