//! The console: server-rendered pages for people. Every address is listed here, every request passes the [`guard`].
//!
//! Pages read through the store and change runs through the pipeline. Each works without script: the script only keeps
//! what is shown fresh.

pub mod guard;
pub mod problem;

use actix_web::middleware::from_fn;
use actix_web::web::{self, PayloadConfig, ServiceConfig, get, resource};

use super::{assets, login, setup};

/// Room for a job's parameters (64 KiB), each byte of which may be written as three characters, and for a text that is too
/// long for them to come back with its error.
const FORM_LIMIT: usize = 1 << 20;

/// Mounts the console at `/`. Comes last: what no other service has taken is a page of the console.
pub fn configure(cfg: &mut ServiceConfig) {
    let scope = web::scope("")
        .app_data(PayloadConfig::new(FORM_LIMIT))
        .wrap(from_fn(guard::guard))
        .route("/assets/{name:.*}", get().to(assets::asset))
        .service(resource("/setup").get(setup::form).post(setup::set_up))
        .service(resource("/login").get(login::form).post(login::sign_in))
        .service(resource("/logout").post(login::sign_out))
        .service(resource("/preferences").post(login::preferences));
    cfg.service(scope);
}
