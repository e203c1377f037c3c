//! The console: server-rendered pages for people. Every address is listed here, every request passes the [`guard`].
//!
//! Pages read through the store and change runs through the pipeline. Each works without script: the script only keeps
//! what is shown fresh. Whoever is signed in is an administrator for now.

mod apps;
mod calendars;
mod chart;
mod choice;
mod dashboard;
mod executor;
mod forecast;
pub(in crate::web) mod form;
pub mod guard;
mod job;
mod job_fields;
mod job_form;
mod job_form_page;
mod jobs;
mod log;
mod merge;
mod preview;
pub mod problem;
mod resolve;
mod rules;
mod run;
mod run_now;
mod runs;
mod schedule_fields;
mod view;

use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig, get, resource};

use super::{assets, login, setup};

/// Mounts the console at `/`. Comes last: what no other service has taken is a page of the console.
pub fn configure(cfg: &mut ServiceConfig) {
    let scope = web::scope("").wrap(from_fn(guard::guard)).configure(people).configure(pages);
    cfg.service(scope);
}

/// Open to everybody, within the guard's rules.
fn people(cfg: &mut ServiceConfig) {
    cfg.route("/assets/{name:.*}", get().to(assets::asset))
        .service(resource("/setup").get(setup::form).post(setup::set_up))
        .service(resource("/login").get(login::form).post(login::sign_in))
        .service(resource("/logout").post(login::sign_out))
        .service(resource("/preferences").post(login::preferences));
}

/// For those who are signed in.
fn pages(cfg: &mut ServiceConfig) {
    cfg.service(resource("/").get(dashboard::page))
        .service(resource("/jobs").get(jobs::list).post(job_form::create))
        .service(resource("/jobs/new").get(job_form::new))
        .service(resource("/jobs/preview").get(preview::fragment))
        .service(resource("/jobs/names").get(job_form::names))
        .service(resource("/jobs/{id}").get(job::page))
        .service(resource("/jobs/{id}/edit").get(job_form::edit).post(job_form::update))
        .service(resource("/jobs/{id}/copy").get(job_form::copy))
        .service(resource("/jobs/{id}/enable").post(job::enable))
        .service(resource("/jobs/{id}/disable").post(job::disable))
        .service(resource("/jobs/{id}/delete").get(job::ask_delete).post(job::delete))
        .service(resource("/jobs/{id}/run").get(run_now::ask).post(run_now::run))
        .service(resource("/runs").get(runs::list))
        .service(resource("/runs/{id}").get(run::page))
        .service(resource("/runs/{id}/log").get(log::following))
        .service(resource("/runs/{id}/kill").get(run::ask_kill).post(run::kill))
        .service(resource("/runs/{id}/resolve").get(resolve::ask).post(resolve::resolve))
        .service(resource("/forecast").get(forecast::page))
        .service(resource("/calendars").get(calendars::list))
        .service(resource("/apps").get(apps::list).post(apps::create))
        .service(resource("/apps/new").get(apps::new))
        .service(resource("/apps/{id}/executor").get(executor::edit).post(executor::update));
}
