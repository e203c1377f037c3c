//! Deleting an app, after a question.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_store::App;
use carillon_store::app::delete_app::AppUse;

use crate::web::access::Caller;
use crate::web::page::{PageContext, PageResult, done, refused, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "apps/delete.html")]
struct DeleteQuestion {
    context: PageContext,
    app: App,
    used: AppUse,
}

/// `GET /apps/{id}/delete` asks.
pub async fn ask_delete(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let apps = state.engine.apps();
    let (app, used) = (apps.get(*id).await?, apps.used(*id).await?);
    Ok(show(&DeleteQuestion { context, app, used }))
}

/// `POST /apps/{id}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    match state.engine.apps().delete(*id, &by.0).await {
        Ok(app) => Ok(done("/apps", context.t("app-is-deleted").with("name", app.name))),
        // It was given a job since the question.
        Err(Error::InUse(text)) => Ok(refused(&format!("/apps/{id}/delete"), &text)),
        Err(error) => Err(error.into()),
    }
}
