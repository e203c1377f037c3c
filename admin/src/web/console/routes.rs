//! The paths of the console.

use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig, get, resource};

use crate::web::console::{account, apps, calendars, dashboard, forecast, jobs, runs};
use crate::web::guard::session_guard;
use crate::web::page::assets;

/// The console, mounted at `/`.
pub fn configure(cfg: &mut ServiceConfig) {
    let scope = web::scope("").wrap(from_fn(session_guard::guard)).configure(public_routes).configure(signed_in_routes);
    cfg.service(scope);
}

/// Open without a session.
fn public_routes(cfg: &mut ServiceConfig) {
    cfg.route("/assets/{name:.*}", get().to(assets::asset))
        .service(resource("/setup").get(account::setup::form).post(account::setup::set_up))
        .service(resource("/login").get(account::login::form).post(account::login::sign_in))
        .service(resource("/logout").post(account::login::sign_out))
        .service(resource("/preferences").post(account::preferences::preferences));
}

/// Need a session.
fn signed_in_routes(cfg: &mut ServiceConfig) {
    cfg.service(resource("/").get(dashboard::page::page))
        .service(resource("/jobs").get(jobs::list::list).post(jobs::edit::create))
        .service(resource("/jobs/new").get(jobs::edit::new))
        .service(resource("/jobs/preview").get(jobs::preview::fragment))
        .service(resource("/jobs/names").get(jobs::names::names))
        .service(resource("/jobs/{id}").get(jobs::page::page))
        .service(resource("/jobs/{id}/edit").get(jobs::edit::edit).post(jobs::edit::update))
        .service(resource("/jobs/{id}/copy").get(jobs::edit::copy))
        .service(resource("/jobs/{id}/enable").post(jobs::enable::enable))
        .service(resource("/jobs/{id}/disable").post(jobs::enable::disable))
        .service(resource("/jobs/{id}/delete").get(jobs::delete::ask_delete).post(jobs::delete::delete))
        .service(resource("/jobs/{id}/run").get(jobs::run_now::ask).post(jobs::run_now::run))
        .service(resource("/runs").get(runs::list::list))
        .service(resource("/runs/{id}").get(runs::page::page))
        .service(resource("/runs/{id}/log").get(runs::log::following))
        .service(resource("/runs/{id}/kill").get(runs::kill::ask_kill).post(runs::kill::kill))
        .service(resource("/runs/{id}/resolve").get(runs::resolve::ask).post(runs::resolve::resolve))
        .service(resource("/forecast").get(forecast::page))
        .service(resource("/calendars").get(calendars::list))
        .service(resource("/apps").get(apps::list::list).post(apps::new::create))
        .service(resource("/apps/new").get(apps::new::new))
        .service(resource("/apps/{id}/executor").get(apps::executor::edit).post(apps::executor::update));
}
