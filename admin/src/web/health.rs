//! Is it alive, is it ready, how does it do.

use std::sync::atomic::Ordering;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::Method;
use actix_web::http::header;
use actix_web::middleware::{Next, from_fn};
use actix_web::{HttpMessage as _, HttpResponse, web};
use carillon_accounts::policy::Action;
use carillon_engine::manage;
use carillon_scheduler::zone_data;

use crate::web::access::denial::{self, Refused};
use crate::web::access::{Access, Route, Target, guarded};
use crate::web::guard::bearer::{self, Refusal};
use crate::web::state::Shared;

pub fn configure(config: &mut web::ServiceConfig) {
    for route in all() {
        let (path, is_open) = (route.path.clone(), route.access == Access::Open);
        let handler = guarded(route, refuse);
        let handler = if is_open { handler } else { handler.wrap(from_fn(token)) };
        config.route(&path, handler);
    }
}

pub fn all() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/healthz", Access::Open, alive),
        Route::new(Method::GET, "/readyz", Access::Open, ready),
        Route::new(Method::GET, "/metrics", Access::Policy(Action::View, Target::Installation), metrics),
    ]
}

fn refuse(error: manage::Error) -> actix_web::Error {
    let response = match &error {
        manage::Error::Forbidden(text) => HttpResponse::Forbidden().body(format!("{text}\n")),
        _ => HttpResponse::ServiceUnavailable().finish(),
    };
    InternalError::from_response(error, response).into()
}

/// Metrics are read with a token of the management API.
async fn token(
    state: Shared,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let found = bearer::authenticate(request.request(), &state).await;
    let actor = found.map_err(|error| refuse(error.into()))?.map_err(|refusal| {
        let (mut response, header) = match refusal {
            Refusal::TooMany => (HttpResponse::TooManyRequests(), (header::RETRY_AFTER, "1")),
            Refusal::Missing | Refusal::Wrong => (HttpResponse::Unauthorized(), (header::WWW_AUTHENTICATE, "Bearer")),
        };
        let response = response.insert_header(header).body(format!("{refusal}\n"));
        InternalError::from_response(refusal, response)
    })?;
    if let Err(seconds) = state.count_request(&actor) {
        denial::record_limit(request.request(), &state, &actor, Refused::default().0).await;
        let text = format!("more requests a second than one account or token may make; try again in {seconds} s\n");
        let response = HttpResponse::TooManyRequests().insert_header((header::RETRY_AFTER, seconds)).body(text.clone());
        return Err(InternalError::from_response(text, response).into());
    }
    request.extensions_mut().insert(actor);
    next.call(request).await
}

async fn alive() -> &'static str {
    "alive\n"
}

/// The database is reached and its schema is the right one; false again as soon as a stop begins.
async fn ready(state: Shared) -> HttpResponse {
    let unavailable = |why: &'static str| HttpResponse::ServiceUnavailable().body(why);
    if !state.ready.load(Ordering::Relaxed) {
        return unavailable("starting or stopping\n");
    }
    let zones = zone_data();
    let answer =
        |state: &str| HttpResponse::Ok().body(format!("{state}\ntzdata {} ({})\n", zones.version(), zones.source()));
    match actix_web::rt::time::timeout(std::time::Duration::from_secs(2), state.store.ping()).await {
        Ok(Ok(())) if state.engine.is_degraded() => {
            answer("ready, degraded: Redis does not answer; the leases in the database are enough")
        }
        Ok(Ok(())) => answer("ready"),
        _ => unavailable("the database does not answer\n"),
    }
}

async fn metrics(state: Shared) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(state.engine.metrics_text())
}
