//! The paths of the executor protocol.

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, web};
use carillon_protocol::{MAX_DECLARATION_BYTES, MAX_LOOP_REPORT_BYTES, MAX_PAGE_BYTES};

use super::answer::refused;
use super::callback::callback;
use super::declare::declare;
use super::loops::renew_loops;
use super::map;
use super::paths::PREFIXES;
use super::refusals::RefusalReason;
use super::registration::{deregister, register};
use super::token::note_refusal;
use crate::web::access::{Access, Route, by_path};
use crate::web::state::Shared;

/// A registration is small; a Java executor's callback of 50 results is not.
const SMALL_BODY: usize = 16 << 10;
/// Java keeps 50,000 characters of a result, writes 200 results to a file when no admin answers, and sends that file unchanged.
const CALLBACK_BODY: usize = 32 << 20;
/// A page of items, with room for an executor that counts a little otherwise.
const ITEMS_BODY: usize = MAX_PAGE_BYTES + (64 << 10);

/// The resources, under each of the prefixes.
pub fn configure(config: &mut web::ServiceConfig) {
    for (path, methods) in by_path(all()) {
        let limit = match path.rsplit('/').next() {
            Some("callback") => CALLBACK_BODY,
            Some("map" | "results") => ITEMS_BODY,
            Some("declare") => MAX_DECLARATION_BYTES,
            Some("loops") => MAX_LOOP_REPORT_BYTES,
            _ => SMALL_BODY,
        };
        let resource = web::resource(path).app_data(web::PayloadConfig::new(limit));
        let resource = resource.default_service(web::to(async || refused("invalid request, HttpMethod not support.")));
        config.service(methods.into_iter().fold(resource, |resource, route| resource.route(route.handler)));
    }
}

/// The same paths on a listener that does not serve them.
pub fn configure_elsewhere(config: &mut web::ServiceConfig) {
    for (path, _) in by_path(all()) {
        config.service(web::resource(path).default_service(web::to(elsewhere)));
    }
}

async fn elsewhere(request: HttpRequest, state: Shared) -> HttpResponse {
    note_refusal(&request, &state, RefusalReason::OtherListener, None);
    // The sender has shown no token, so the settings are named on the page of the apps alone.
    refused("executors register at another address of this server; this one is for people")
}

pub fn all() -> Vec<Route> {
    let of_prefix = |prefix: &&str| {
        let path = |name: &str| format!("{prefix}/api/{name}");
        [
            Route::new(Method::POST, path("registry"), Access::Executor, register),
            Route::new(Method::POST, path("registryRemove"), Access::Executor, deregister),
            Route::new(Method::POST, path("callback"), Access::Executor, callback),
            Route::new(Method::POST, path("map"), Access::Executor, map::add_page),
            Route::new(Method::POST, path("map/results"), Access::Executor, map::add_results),
            Route::new(Method::POST, path("map/items"), Access::Executor, map::items),
            Route::new(Method::POST, path("declare"), Access::Executor, declare),
            Route::new(Method::POST, path("loops"), Access::Executor, renew_loops),
        ]
    };
    PREFIXES.iter().flat_map(of_prefix).collect()
}
