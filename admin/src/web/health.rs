//! Is it alive, is it ready, how does it do.

use std::sync::atomic::Ordering;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use crate::web::guard::bearer;
use crate::web::state::Shared;

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
async fn ready(state: Shared) -> HttpResponse {
    let unavailable = |why: &'static str| HttpResponse::ServiceUnavailable().body(why);
    if !state.ready.load(Ordering::Relaxed) {
        return unavailable("starting or stopping\n");
    }
    match actix_web::rt::time::timeout(std::time::Duration::from_secs(2), state.store.ping()).await {
        Ok(Ok(())) if state.engine.is_degraded() => {
            HttpResponse::Ok().body("ready, degraded: Redis does not answer; the leases in the database are enough\n")
        }
        Ok(Ok(())) => HttpResponse::Ok().body("ready\n"),
        _ => unavailable("the database does not answer\n"),
    }
}

async fn metrics(request: HttpRequest, state: Shared) -> HttpResponse {
    if let Err(refusal) = bearer::check(&request, state.config.api_token.as_deref()) {
        return HttpResponse::Unauthorized()
            .insert_header((header::WWW_AUTHENTICATE, "Bearer"))
            .body(format!("{refusal}\n"));
    }
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(state.engine.metrics_text())
}
