//! The paths of the executor protocol.

use actix_web::{Resource, web};

use super::answer::refused;
use super::callback::callback;
use super::registration::{deregister, register};

/// A registration is small; a Java executor's callback of 50 results is not.
const SMALL_BODY: usize = 16 << 10;
const CALLBACK_BODY: usize = 8 << 20;

/// Each resource is served below each of these.
const PREFIXES: [&str; 2] = ["", "/xxl-job-admin"];
/// Whether a path is one of these resources.
pub fn is_path(path: &str) -> bool {
    let below = |prefix: &&str| path.strip_prefix(*prefix)?.strip_prefix("/api/");
    let name = PREFIXES.iter().rev().find_map(below);
    matches!(name, Some("registry" | "registryRemove" | "callback"))
}

/// The three resources, under each of the prefixes.
pub fn configure(config: &mut web::ServiceConfig) {
    for prefix in PREFIXES {
        config
            .service(resource(prefix, "registry", SMALL_BODY).route(web::post().to(register)))
            .service(resource(prefix, "registryRemove", SMALL_BODY).route(web::post().to(deregister)))
            .service(resource(prefix, "callback", CALLBACK_BODY).route(web::post().to(callback)));
    }
}

fn resource(prefix: &str, name: &str, limit: usize) -> Resource {
    web::resource(format!("{prefix}/api/{name}"))
        .app_data(web::PayloadConfig::new(limit))
        .default_service(web::to(async || refused("invalid request, HttpMethod not support.")))
}
