//! The secrets of an app. A value is set here and never shown.

use actix_web::web::Path;
use askama::Template;
use carillon_store::App;
use carillon_store::app::secrets::SecretName;

use crate::web::access::Caller;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, done, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "apps/secrets.html")]
struct Page {
    context: PageContext,
    app: App,
    secrets: Vec<SecretName>,
    form: Form,
    /// Secrets can be encrypted.
    has_key: bool,
}

async fn show(state: &State, context: PageContext, id: i64, form: Form) -> PageResult {
    let page = Page {
        app: state.engine.apps().get(id).await?,
        secrets: state.engine.app_secrets().list(id).await?,
        has_key: !state.engine.executor_tokens().keys().is_empty(),
        context,
        form,
    };
    let status = page.form.status();
    Ok(render(&page, status))
}

/// `GET /apps/{id}/secrets`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    show(&state, context, *id, Form::default()).await
}

/// `POST /apps/{id}/secrets`
pub async fn set(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let name = form.value("name").trim().to_owned();
    let set = state.engine.app_secrets().set(*id, &name, form.value("value"), &by.0).await;
    // It does not go back into the page.
    form.set("value", "");
    if form.accept_at("name", set)?.is_some() {
        return Ok(done(&format!("/apps/{id}/secrets"), context.t("app-secret-is-set").with("name", name)));
    }
    show(&state, context, *id, form).await
}

/// `POST /apps/{id}/secrets/remove`
pub async fn remove(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    let name = form.value("name");
    state.engine.app_secrets().delete(*id, name, &by.0).await?;
    Ok(done(&format!("/apps/{id}/secrets"), context.t("app-secret-deleted").with("name", name)))
}
