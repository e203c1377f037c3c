//! `declare`: the jobs that a program declares in its code, after an answer to a heartbeat has asked for them.

use actix_web::{HttpRequest, HttpResponse};
use carillon_protocol::{Answer, headers};

use super::answer::{answered, header, refused};
use super::audit::record_denial_for;
use super::authenticated_body::AuthenticatedBody;
use super::refusals::RefusalReason;
use super::registration::count;
use super::token::note_refusal;
use crate::web::state::{Shared, State};

/// `POST /api/declare`
pub async fn declare(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    if let Err(message) = count(&request, &body, &state).await {
        return refused(message);
    }
    let app = match app(&request, &body, &state).await {
        Ok(app) => app,
        Err(message) => return refused(message),
    };
    match state.declarations.declare(&app, &body.bytes).await {
        Ok(()) => answered(&Answer::ok()),
        Err(message) => refused(message),
    }
}

/// The app that the sender speaks for: the one that it names.
pub(super) async fn app(request: &HttpRequest, body: &AuthenticatedBody, state: &State) -> Result<String, String> {
    let name = header(request, headers::APP).ok_or_else(|| format!("{} is missing; it names the app", headers::APP))?;
    let name = state.engine.apps().current_name(name);
    if !body.credential.allows(&name) {
        note_refusal(request, state, RefusalReason::NotOfApp, Some(&name));
        record_denial_for(request, state, &body.credential, "the token does not count for this app", &name).await;
        return Err(format!("{}: the access token is not one of the app {name}", headers::APP));
    }
    Ok(name)
}
