//! `/jobs/{id}/explain`

use actix_web::web::Json;
use carillon_inspect::explain;

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Caller, Id, Query};
use crate::web::api::view::ExplanationView;
use crate::web::state::Shared;

/// What became of one instant.
pub async fn explain(state: Shared, id: Id, caller: Caller, query: Query) -> Answer<ExplanationView> {
    let at = query.time("at")?;
    let at = at.ok_or_else(|| Error::field("at", "is missing; write an instant such as 2025-07-04T15:00:00Z"))?;
    let found = explain::explain(&state.store, id.0, at, state.clock.now(), &caller.visible()).await?;
    let missing = || Error::not_found(format!("there is no job {}, and nothing of it at this instant", id.0));
    Ok(Json(found.ok_or_else(missing)?.into()))
}
