//! Mounts the executor protocol.

use actix_web::{Resource, web};

use super::answer::refused;
use super::callback::callback;
use super::paths::PREFIXES;
use super::registration::{deregister, register};

/// A registration is small; a Java executor's callback of 50 results is not.
const SMALL_BODY: usize = 16 << 10;
const CALLBACK_BODY: usize = 8 << 20;

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
