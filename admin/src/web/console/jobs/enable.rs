//! Pausing and resuming a job.

use actix_web::web;
use carillon_engine::manage::Error;
use carillon_store::Actor;

use crate::web::access::Caller;
use crate::web::forms::Fields;
use crate::web::page::{PageResult, local_address, redirect_with_flash};
use crate::web::state::{Shared, State};

/// `POST /jobs/{id}/enable`
pub async fn enable(state: Shared, by: Caller, id: web::Path<i64>, fields: Fields) -> PageResult {
    set_enabled(&state, *id, true, &by.0, local_address(fields.get("next"))).await
}

/// `POST /jobs/{id}/disable`
pub async fn disable(state: Shared, by: Caller, id: web::Path<i64>, fields: Fields) -> PageResult {
    set_enabled(&state, *id, false, &by.0, local_address(fields.get("next"))).await
}

async fn set_enabled(state: &State, id: i64, enabled: bool, by: &Actor, next: &str) -> PageResult {
    let (kind, text) = match state.engine.jobs().set_enabled(id, enabled, by).await {
        Err(Error::Unusable(error)) => {
            ("failed", format!("The job cannot be resumed: {}. Edit it first.", error.message))
        }
        other => ("ok", format!("{} is {}.", other?.draft.name, if enabled { "enabled" } else { "paused" })),
    };
    Ok(redirect_with_flash(next, kind, &text))
}
