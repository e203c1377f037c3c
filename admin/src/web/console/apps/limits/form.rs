//! The form of a limit: a new one, and changes of one that is there.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, LimitUse};
use carillon_scheduler::LimitDraft;
use carillon_store::App;

use crate::web::access::Caller;
use crate::web::console::apps::limits::page::may_set;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, done, render};
use crate::web::state::{Shared, State};

/// The form's fields and the keys of their labels, in the order of the page.
pub const LABELS: &[(&str, &str)] = &[
    ("version", "version"),
    ("name", "name"),
    ("app", "app"),
    ("max", "limit-max"),
    ("limit_key", "limit-key"),
    ("all_jobs", "limit-all-jobs"),
    ("description", "description"),
];

/// The value of the field of the app for a shared limit.
const SHARED: &str = "all";

#[derive(Template)]
#[template(path = "apps/limits/form.html")]
struct Page {
    context: PageContext,
    /// The one that is changed.
    before: Option<LimitUse>,
    form: Form,
    /// Of which the viewer may set limits.
    apps: Vec<App>,
}

impl Page {
    fn label(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("", |(_, label)| label)
    }
}

async fn page(
    state: &State,
    by: &Caller,
    context: PageContext,
    before: Option<LimitUse>,
    mut form: Form,
) -> PageResult {
    form.sort_errors(LABELS);
    let mut apps = state.store.apps().list(&by.visible()).await?;
    apps.retain(|app| context.may_administer(&app.id));
    let status = form.status();
    Ok(render(&Page { context, before, form, apps }, status))
}

/// `GET /limits/new`
pub async fn new(state: Shared, by: Caller, context: PageContext) -> PageResult {
    page(&state, &by, context, None, Form::default().with("max", "1".to_owned())).await
}

/// `POST /limits`
pub async fn create(state: Shared, by: Caller, context: PageContext, form: Form) -> PageResult {
    save(&state, by, context, None, form).await
}

/// `GET /limits/{id}/edit`
pub async fn edit(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let before = state.engine.run_limits().get(*id, &by.0).await?;
    if !may_set(&context, before.rule.app_id) {
        return Err(Error::Missing(format!("limit {id}")).into());
    }
    let form = filled(&before).with("version", before.rule.version.to_string());
    page(&state, &by, context, Some(before), form).await
}

/// `POST /limits/{id}/edit`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    let before = state.engine.run_limits().get(*id, &by.0).await?;
    save(&state, by, context, Some(before), form).await
}

async fn save(state: &State, by: Caller, context: PageContext, before: Option<LimitUse>, mut form: Form) -> PageResult {
    let draft = draft(&mut form, before.as_ref());
    let seen = before.as_ref().map(|before| form.number("version", before.rule.version));
    if form.is_valid() {
        let limits = state.engine.run_limits();
        let saved = match &before {
            Some(before) => limits.update(before.rule.id, draft, seen, &by.0).await,
            None => limits.create(draft, &by.0).await,
        };
        if let Err(Error::Changed(_)) = &saved {
            form.add_error("version", "Another user has changed this limit since you opened it.");
        } else {
            let saved = match saved {
                // A field of this name is taken by the forms of jobs.
                Err(Error::Invalid(errors)) => Err(Error::Invalid(errors.into_iter().map(own_field).collect())),
                saved => saved,
            };
            if let Some(saved) = form.accept_named("There is a limit of this name already.", saved)? {
                let text = context.t("limit-is-saved").with("name", &saved.rule.name);
                return Ok(done(&format!("/limits/{}", saved.rule.id), text));
            }
        }
    }
    page(state, &by, context, before, form).await
}

fn own_field(mut error: carillon_scheduler::FieldError) -> carillon_scheduler::FieldError {
    if error.field == "key" {
        error.field = "limit_key".to_owned();
    }
    error
}

/// A limit as the form shows it.
fn filled(limit: &LimitUse) -> Form {
    let rule = &limit.rule;
    Form::default()
        .with("name", &rule.name)
        .with("app", limit.app.as_deref().unwrap_or(SHARED))
        .with("max", rule.max_runs.to_string())
        .with("limit_key", &rule.key_path)
        .with("all_jobs", if rule.all_jobs { "yes" } else { "" })
        .with("description", &rule.description)
}

/// The limit that the fields describe. Its name and app do not change.
fn draft(form: &mut Form, before: Option<&LimitUse>) -> LimitDraft {
    if let Some(before) = before {
        form.set("name", &before.rule.name);
        form.set("app", before.app.as_deref().unwrap_or(SHARED));
    }
    let app = form.value("app").to_owned();
    if app.is_empty() {
        form.add_error("app", "Choose the app whose jobs may use it, or all apps.");
    }
    LimitDraft {
        name: form.value("name").trim().to_owned(),
        app: Some(app).filter(|app| app != SHARED && !app.is_empty()),
        max: form.number("max", 0),
        key: form.value("limit_key").trim().to_owned(),
        all_jobs: form.is("all_jobs", "yes"),
        description: form.value("description").trim().replace("\r\n", "\n"),
    }
}
