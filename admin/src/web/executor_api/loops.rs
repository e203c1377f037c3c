//! `loops`: an executor reports what its loops did, and keeps them by that.

use actix_web::{HttpRequest, HttpResponse};
use carillon_protocol::{Answer, LoopRenewals, LoopReports, parse_loops};
use carillon_store::lease::loops::LoopHolder;
use serde_json::json;

use super::answer::{answered, refused};
use super::authenticated_body::AuthenticatedBody;
use super::declare::app;
use super::registration::boot_id;
use crate::web::state::{Shared, State};

/// `POST /api/loops`
pub async fn renew_loops(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    match renewed(&request, &body, &state).await {
        Ok(renewals) => answered(&Answer::ok_with(json!(renewals))),
        Err(message) => refused(message),
    }
}

async fn renewed(request: &HttpRequest, body: &AuthenticatedBody, state: &State) -> Result<LoopRenewals, String> {
    let name = app(request, body, state).await?;
    let boot_id =
        boot_id(request).ok_or("a loop is of one start of an executor, and the request does not say which")?;
    let reports: LoopReports = parse_loops(&body.bytes)?;
    // The executor asks again long before the leases are over.
    let not_stored = |error: carillon_store::Error| {
        tracing::warn!(%error, app.name = name, "loops could not be renewed");
        "the loops could not be renewed; ask again".to_owned()
    };
    let app = state.store.apps().by_name(&name).await.map_err(not_stored)?;
    let app = app.ok_or_else(|| format!("there is no app {name}"))?;
    let holder = LoopHolder { app_id: app.id, boot_id: &boot_id };
    state.engine.renew_loops(holder, reports).await.map_err(not_stored)
}
