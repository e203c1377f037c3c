//! `/jobs/{id}/explain`

use actix_web::web::{Data, Json};

use crate::web::api::error::Error;
use crate::web::api::extract::{Id, Query};
use crate::web::api::view::ExplanationView;
use crate::web::state::State;
use carillon_inspect::explain;

/// What became of one instant.
pub async fn explain(state: Data<State>, id: Id, query: Query) -> Result<Json<ExplanationView>, Error> {
    let at = query.time("at")?;
    let at = at.ok_or_else(|| Error::field("at", "is missing; write an instant such as 2025-07-04T15:00:00Z"))?;
    let found = explain::explain(&state.store, id.0, at, state.clock.now()).await?;
    let missing = || Error::not_found(format!("there is no job {}, and nothing of it at this instant", id.0));
    Ok(Json(found.ok_or_else(missing)?.into()))
}
