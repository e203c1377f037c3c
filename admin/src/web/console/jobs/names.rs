//! Names of jobs to choose from, while one is typed.

use actix_web::web::Query;
use askama::Template;
use serde::Deserialize;

use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

/// The app and the part of the name.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NameQuery {
    app: String,
    text: String,
}

#[derive(Template)]
#[template(path = "jobs/names.html")]
struct NameOptions {
    context: PageContext,
    offered: Vec<ChildJob>,
}

/// `GET /jobs/names`: the choices of a field for the name of a job, while it is typed.
pub async fn names(state: Shared, context: PageContext, query: Query<NameQuery>) -> PageResult {
    let offered = child_jobs::offered(&state.store, &query.app, &query.text, &context.visible()).await?;
    Ok(show(&NameOptions { context, offered }))
}
