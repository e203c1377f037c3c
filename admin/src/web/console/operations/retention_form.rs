//! The rule for how long runs are kept: of all jobs, of an app's jobs, of one job.

use actix_web::web::Path;
use askama::Template;
use carillon_store::retention::rules::{EffectiveRetention, Retention, Scope};

use crate::web::access::Caller;
use crate::web::console::operations::retention::{days, number};
use crate::web::forms::Form;
use crate::web::locale::{Language, Message};
use crate::web::page::{PageContext, PageError, PageResult, done, render};
use crate::web::state::{Shared, State};

/// A field: its name, label, unit, what it means, and what is in force without a value of its own.
struct RuleField {
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    hint: &'static str,
    in_force: Message,
}

#[derive(Template)]
#[template(path = "operations/retention_form.html")]
struct Page {
    context: PageContext,
    /// Whose runs.
    whose: String,
    action: String,
    back: String,
    wider: &'static str,
    form: Form,
    fields: Vec<RuleField>,
}

/// `GET /retention/edit`
pub async fn all(state: Shared, context: PageContext) -> PageResult {
    edit(&state, context, Scope::All).await
}

/// `POST /retention/edit`
pub async fn set_all(state: Shared, by: Caller, context: PageContext, form: Form) -> PageResult {
    set(&state, &by, context, Scope::All, form).await
}

/// `GET /apps/{id}/retention`
pub async fn of_app(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    edit(&state, context, Scope::App(*id)).await
}

/// `POST /apps/{id}/retention`
pub async fn set_app(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    set(&state, &by, context, Scope::App(*id), form).await
}

/// `GET /jobs/{id}/retention`
pub async fn of_job(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    edit(&state, context, Scope::Job(*id)).await
}

/// `POST /jobs/{id}/retention`
pub async fn set_job(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    set(&state, &by, context, Scope::Job(*id), form).await
}

async fn edit(state: &State, context: PageContext, scope: Scope) -> PageResult {
    let (rule, _) = state.engine.retention().get(scope).await?;
    let text = |value: Option<i32>| value.map_or_else(String::new, |value| value.to_string());
    let form = Form::default()
        .with("days", text(rule.days))
        .with("runs", text(rule.runs))
        .with("failure_days", text(rule.failure_days))
        .with("failures", text(rule.failures));
    page(state, context, scope, form).await
}

async fn set(state: &State, by: &Caller, context: PageContext, scope: Scope, mut form: Form) -> PageResult {
    let mut value = |name: &str| form.optional_number(name, 0);
    let [days, failure_days, failures, runs] = ["days", "failure_days", "failures", "runs"].map(&mut value);
    let rule = Retention { days, failure_days, failures, runs };
    if form.is_valid()
        && !form.is("step", "preview")
        && form.accept(state.engine.retention().set(scope, rule, &by.0).await)?.is_some()
    {
        return Ok(done("/retention", context.t("retention-saved")));
    }
    page(state, context, scope, form).await
}

async fn page(state: &State, context: PageContext, scope: Scope, form: Form) -> PageResult {
    let (whose, action, back, wider) = place(state, &context, scope).await?;
    let wider_rules = wider_in_force(state, scope).await?;
    let status = form.status();
    let page = Page { fields: rule_fields(context.language, wider_rules), context, whose, action, back, wider, form };
    Ok(render(&page, status))
}

/// Whose runs, the form's target, the page before, and the key of what an empty field means.
async fn place(
    state: &State,
    context: &PageContext,
    scope: Scope,
) -> Result<(String, String, String, &'static str), PageError> {
    let list = "/retention".to_owned();
    Ok(match scope {
        Scope::All => (context.t("of-all-jobs").to_string(), "/retention/edit".to_owned(), list, "retention-default"),
        Scope::App(id) => {
            let app = state.engine.apps().get(id).await?;
            let whose = context.t("of-jobs-of").with("app", &app.name).to_string();
            (whose, format!("/apps/{id}/retention"), list, "retention-of-all")
        }
        Scope::Job(id) => {
            let job = state.engine.jobs().get(id).await?;
            let (action, back) = (format!("/jobs/{id}/retention"), format!("/jobs/{id}"));
            (job.draft.name, action, back, "retention-of-app")
        }
    })
}

/// What would be in force without a rule of this scope.
async fn wider_in_force(state: &State, scope: Scope) -> Result<EffectiveRetention, PageError> {
    use carillon_store::retention::rules::DEFAULT;
    let rules = state.store.retention().rules().await?;
    Ok(match scope {
        Scope::All => DEFAULT,
        Scope::App(_) => rules.keep(0, 0),
        Scope::Job(id) => rules.keep(state.engine.jobs().get(id).await?.app_id, 0),
    })
}

fn rule_fields(language: Language, wider: EffectiveRetention) -> Vec<RuleField> {
    let field = |name, label, unit, hint, in_force| RuleField { name, label, unit, hint, in_force };
    let failures = language.text("number").with("number", wider.failures);
    vec![
        field("days", "retention-runs", "unit-days", "retention-days-hint", days(language, wider.days)),
        field("runs", "retention-most", "unit-runs", "retention-most-hint", number(language, wider.runs)),
        field(
            "failure_days",
            "retention-failed",
            "unit-days",
            "retention-days-hint",
            days(language, wider.failure_days),
        ),
        field("failures", "retention-last", "unit-runs-of-job", "retention-last-hint", failures),
    ]
}
