//! Is it alive, is it ready, how does it do.

use std::sync::atomic::Ordering;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::web::State;

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .route("/healthz", web::get().to(alive))
        .route("/readyz", web::get().to(ready))
        .route("/metrics", web::get().to(metrics));
}

async fn alive() -> &'static str {
    "alive\n"
}

/// The database is reached and its schema is the right one; false again as soon as a stop begins.
async fn ready(state: web::Data<State>) -> HttpResponse {
    let unavailable = |why: &'static str| HttpResponse::ServiceUnavailable().body(why);
    if !state.ready.load(Ordering::Relaxed) {
        return unavailable("starting or stopping\n");
    }
    match actix_web::rt::time::timeout(std::time::Duration::from_secs(2), state.store.ping()).await
    {
        Ok(Ok(())) => HttpResponse::Ok().body("ready\n"),
        _ => unavailable("the database does not answer\n"),
    }
}

async fn metrics(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    if !has_api_token(&request, &state) {
        return HttpResponse::Unauthorized()
            .insert_header((header::WWW_AUTHENTICATE, "Bearer"))
            .body("send the API token: Authorization: Bearer …\n");
    }
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(state.metrics.render())
}

fn has_api_token(request: &HttpRequest, state: &State) -> bool {
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    match (
        given.and_then(|value| value.strip_prefix("Bearer ")),
        &state.config.api_token,
    ) {
        (Some(given), Some(token)) => Sha256::digest(given.trim())
            .ct_eq(&Sha256::digest(token))
            .into(),
        _ => false,
    }
}
