//! An app: its name and title, its former names, and the addresses of executors that people enter.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Apps, Error};
use carillon_store::App;
use carillon_store::app::executors::Executor;
use carillon_store::app::rename::FormerName;

use crate::web::access::Caller;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, done, render};
use crate::web::state::{Shared, State};

/// Jobs that a list names.
const NAMED: usize = 20;

#[derive(Template)]
#[template(path = "apps/page.html")]
struct Page {
    context: PageContext,
    app: App,
    /// Whose address a person has entered.
    entered: Vec<Executor>,
    former: Vec<FormerName>,
    /// Whose jobs may start jobs of this one.
    starters: String,
    /// Jobs of this app that are children of jobs which may not start them.
    unstarted: Vec<ChildJob>,
    form: Form,
}

/// The form of the name, as it is stored.
fn with_names(form: Form, app: &App) -> Form {
    let runs_scripts = if app.runs_scripts { "yes" } else { "" };
    let form = form.with("name", &app.name).with("title", &app.title).with("runs_scripts", runs_scripts);
    form.with("weight", app.weight.to_string())
}

/// The page again with the faults of another form than that of the name.
async fn show_faults(state: &State, context: PageContext, id: i64, form: Form) -> PageResult {
    let app = state.engine.apps().get(id).await?;
    show(state, context, id, Some(with_names(form, &app))).await
}

async fn show(state: &State, context: PageContext, id: i64, form: Option<Form>) -> PageResult {
    let app = state.engine.apps().get(id).await?;
    let mut entered = state.store.apps().executors_of(&app.name).await?;
    entered.retain(|executor| executor.manual_since.is_some());
    let former = state.engine.apps().former_names(id).await?;
    let (mut starters, mut unstarted) = (String::new(), vec![]);
    if context.may_administer(&app.id) {
        starters = state.engine.apps().starters(id).await?.join(", ");
        let ids = state.store.jobs().unstarted_children(id).await?;
        unstarted = child_jobs::by_id(&state.store, &ids[..ids.len().min(NAMED)], &context.visible()).await?;
    }
    let form = form.unwrap_or_else(|| with_names(Form::default(), &app));
    let status = form.status();
    Ok(render(&Page { context, app, entered, former, starters, unstarted, form }, status))
}

/// `GET /apps/{id}`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    show(&state, context, *id, None).await
}

/// `POST /apps/{id}/executors`
pub async fn enter(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let entered = state.engine.executors().enter(*id, form.value("address").trim(), &by.0).await;
    if let Some(entered) = form.accept_at("address", entered)? {
        let text = context.t("app-address-is-entered").with("address", entered.address);
        return Ok(done(&format!("/apps/{id}"), text));
    }
    show_faults(&state, context, *id, form).await
}

/// `POST /apps/{id}`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let name = form.value("name").trim().to_owned();
    let title = form.given("title").unwrap_or_else(|| name.clone());
    let weight = form.optional_number("weight", 1);
    if let Some(weight) = weight {
        form.accept(Apps::check_weight(weight))?;
    }
    if !form.is_valid() {
        form.accept(state.engine.apps().check(&name, Some(&title)))?;
        return show(&state, context, *id, Some(form)).await;
    }
    let updated = state.engine.apps().update(*id, Some(&name), Some(&title), &by.0).await;
    if let Some(app) = form.accept_named("The name belongs or belonged to another app.", updated)? {
        state.engine.apps().set_runs_scripts(*id, form.is("runs_scripts", "yes"), &by.0).await?;
        if let Some(weight) = weight {
            state.engine.apps().set_weight(*id, weight, &by.0).await?;
        }
        return Ok(done(&format!("/apps/{id}"), context.t("app-is-saved").with("name", app.name)));
    }
    show(&state, context, *id, Some(form)).await
}

/// `POST /apps/{id}/starters`
pub async fn set_starters(
    state: Shared,
    by: Caller,
    context: PageContext,
    id: Path<i64>,
    mut form: Form,
) -> PageResult {
    let names = form.value("starters").split([',', ' ', '\n', '\r']).map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    match state.engine.apps().set_starters(*id, &names, &by.0).await {
        Ok(()) => {
            return Ok(done(&format!("/apps/{id}"), context.t("app-starters-saved")));
        }
        Err(Error::Invalid(errors)) => errors.into_iter().for_each(|error| form.add_error("starters", error.message)),
        Err(error) => return Err(error.into()),
    }
    show_faults(&state, context, *id, form).await
}

/// `POST /apps/{id}/former-names/remove`
pub async fn remove_former_name(
    state: Shared,
    by: Caller,
    context: PageContext,
    id: Path<i64>,
    fields: Fields,
) -> PageResult {
    let name = fields.get("name");
    state.engine.apps().remove_name(*id, name, &by.0).await?;
    Ok(done(&format!("/apps/{id}"), context.t("app-former-removed").with("name", name)))
}
