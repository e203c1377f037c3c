//! The time zones to choose from.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use carillon_scheduler::zone_data;

/// `GET /zones`: the current names, as JSON; old names are accepted and not offered.
pub async fn zones() -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "private, max-age=3600")).json(zone_data().offered())
}
