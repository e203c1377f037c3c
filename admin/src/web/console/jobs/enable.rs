//! Pausing and resuming a job.

use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};

use crate::store::{Actor, Error};
use crate::web::console::actor::actor;
use crate::web::console::error_page::PageError;
use crate::web::console::jobs::lookup::gone;
use crate::web::forms::fields::Fields;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::answer::local_address;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;

/// `POST /jobs/{id}/enable`
pub async fn enable(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    set_enabled(&state, *id, true, &actor(&viewer, &request), fields.get("next")).await
}

/// `POST /jobs/{id}/disable`
pub async fn disable(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    set_enabled(&state, *id, false, &actor(&viewer, &request), fields.get("next")).await
}

async fn set_enabled(
    state: &State,
    id: i64,
    enabled: bool,
    actor: &Actor,
    next: &str,
) -> Result<HttpResponse, PageError> {
    let next = local_address(next);
    let now = state.clock.now();
    let job = match state.store.set_job_enabled(id, enabled, now, actor).await {
        Ok(job) => job,
        Err(Error::Invalid(error)) => {
            let text = format!("The job cannot be resumed: {}. Edit it first.", error.message);
            return Ok(redirect_with_flash(next, "failed", &text));
        }
        other => other.map_err(gone)?,
    };
    state.engine.job_changed(job.shard);
    let text = match enabled {
        true => format!("{} is enabled.", job.draft.name),
        false => format!("{} is paused.", job.draft.name),
    };
    Ok(redirect_with_flash(next, "ok", &text))
}
