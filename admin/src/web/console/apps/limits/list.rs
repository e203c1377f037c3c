//! `GET /limits`: the limits that are shared, and those of the apps that the viewer sees.

use askama::Template;
use carillon_engine::manage::LimitUse;

use crate::web::access::Caller;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "apps/limits/list.html")]
struct Page {
    context: PageContext,
    limits: Vec<LimitUse>,
}

/// `GET /limits`
pub async fn list(state: Shared, by: Caller, context: PageContext) -> PageResult {
    let limits = state.engine.run_limits().list(&by.0).await?;
    Ok(show(&Page { context, limits }))
}
