//! The paths of the console, and what each needs.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use carillon_accounts::policy::Action::{Administer, Edit, Operate, View};

use crate::web::access::Access::{Open, Own, Policy};
use crate::web::access::Target::{Alert, AlertRule, AnyApp, App, Backfill, Installation, Job, Run, Shared};
use crate::web::access::{Route, by_path, guarded};
use crate::web::console::operations::{gaps, misfires, nodes, retention, retention_form};
use crate::web::console::{
    account, alerts, apps, audit, calendars, dashboard, forecast, jobs, pauses, reports, runs, search, users,
};
use crate::web::guard::session_guard;
use crate::web::page::{PageError, assets};

const GET: Method = Method::GET;
const POST: Method = Method::POST;

/// The console, mounted at `/`.
pub fn configure(cfg: &mut ServiceConfig) {
    let mut scope = web::scope("").wrap(from_fn(session_guard::guard));
    for (path, methods) in by_path(all()) {
        let guarded = methods.into_iter().map(|route| guarded(route, |error| PageError::from(error).into()));
        scope = scope.service(guarded.fold(web::resource(path), actix_web::Resource::route));
    }
    cfg.service(scope);
}

/// The methods of a path follow each other.
pub fn all() -> Vec<Route> {
    [before_signing_in(), of_jobs(), of_runs(), of_calendars(), of_operations(), of_apps(), of_alerts(), of_people()]
        .into_iter()
        .flatten()
        .collect()
}

/// Open without a session. The guard checks where a change comes from all the same.
fn before_signing_in() -> Vec<Route> {
    vec![
        Route::new(GET, "/assets/{name:.*}", Open, assets::asset),
        Route::new(GET, "/setup", Open, account::setup::form),
        Route::new(POST, "/setup", Open, account::setup::set_up),
        Route::new(GET, "/login", Open, account::login::form),
        Route::new(POST, "/login", Open, account::sign_in::sign_in),
        Route::new(POST, "/login/code", Open, account::code::check),
        Route::new(GET, "/login/openid", Open, account::openid::begin),
        Route::new(GET, account::openid::CALLBACK, Open, account::openid::callback),
        Route::new(GET, "/reset", Open, account::reset::form),
        Route::new(POST, "/reset", Open, account::reset::reset),
        Route::new(POST, "/preferences", Open, account::preferences::preferences),
        Route::new(POST, "/logout", Own, account::login::sign_out),
        Route::new(GET, "/zones", Own, account::zones::zones),
    ]
}

fn of_jobs() -> Vec<Route> {
    vec![
        Route::new(GET, "/", Policy(View, AnyApp), dashboard::page::page),
        Route::new(GET, "/jobs", Policy(View, AnyApp), jobs::list::list),
        Route::new(POST, "/jobs", Policy(Edit, AnyApp), jobs::edit::create),
        Route::new(GET, "/jobs/new", Policy(Edit, AnyApp), jobs::edit::new),
        Route::new(GET, "/jobs/preview", Policy(View, AnyApp), jobs::preview::fragment),
        Route::new(GET, "/jobs/names", Policy(View, AnyApp), jobs::names::names),
        Route::new(POST, "/jobs/bulk", Policy(Operate, AnyApp), jobs::bulk::bulk),
        Route::new(GET, "/jobs/{id}", Policy(View, Job), jobs::page::page),
        Route::new(GET, "/jobs/{id}/edit", Policy(Edit, Job), jobs::edit::edit),
        Route::new(POST, "/jobs/{id}/edit", Policy(Edit, Job), jobs::edit::update),
        Route::new(GET, "/jobs/{id}/copy", Policy(Edit, Job), jobs::edit::copy),
        Route::new(GET, "/jobs/{id}/pause", Policy(Operate, Job), jobs::pause::ask),
        Route::new(POST, "/jobs/{id}/enable", Policy(Operate, Job), jobs::pause::enable),
        Route::new(POST, "/jobs/{id}/disable", Policy(Operate, Job), jobs::pause::disable),
        Route::new(GET, "/jobs/{id}/delete", Policy(Edit, Job), jobs::delete::ask_delete),
        Route::new(POST, "/jobs/{id}/delete", Policy(Edit, Job), jobs::delete::delete),
        Route::new(GET, "/jobs/{id}/run", Policy(Operate, Job), jobs::run_now::ask),
        Route::new(POST, "/jobs/{id}/run", Policy(Operate, Job), jobs::run_now::run),
        Route::new(GET, "/jobs/{id}/backfill", Policy(View, Job), jobs::backfill::ask),
        Route::new(POST, "/jobs/{id}/backfill", Policy(Operate, Job), jobs::backfill::start),
        Route::new(POST, "/backfills/{id}/cancel", Policy(Operate, Backfill), jobs::backfill::cancel),
        Route::new(GET, "/jobs/{id}/explain", Policy(View, Job), jobs::explain::page),
        Route::new(GET, "/jobs/{id}/history", Policy(View, Job), jobs::history::page),
        Route::new(GET, "/jobs/{id}/history/{revision}/restore", Policy(Edit, Job), jobs::restore::ask),
        Route::new(POST, "/jobs/{id}/history/{revision}/restore", Policy(Edit, Job), jobs::restore::restore),
        Route::new(GET, "/jobs/{id}/retention", Policy(Edit, Job), retention_form::of_job),
        Route::new(POST, "/jobs/{id}/retention", Policy(Edit, Job), retention_form::set_job),
    ]
}

fn of_runs() -> Vec<Route> {
    vec![
        Route::new(GET, "/runs", Policy(View, AnyApp), runs::list::list),
        Route::new(GET, "/runs/rerun", Policy(Operate, AnyApp), runs::bulk::ask_rerun),
        Route::new(POST, "/runs/bulk", Policy(Operate, AnyApp), runs::bulk::bulk),
        Route::new(GET, "/runs/{id}", Policy(View, Run), runs::page::page),
        Route::new(GET, "/runs/{id}/log", Policy(View, Run), runs::log::following),
        Route::new(GET, "/runs/{id}/log.txt", Policy(View, Run), runs::log_file::download),
        Route::new(GET, "/runs/{id}/kill", Policy(Operate, Run), runs::kill::ask_kill),
        Route::new(POST, "/runs/{id}/kill", Policy(Operate, Run), runs::kill::kill),
        Route::new(GET, "/runs/{id}/resolve", Policy(Operate, Run), runs::resolve::ask),
        Route::new(POST, "/runs/{id}/resolve", Policy(Operate, Run), runs::resolve::resolve),
        Route::new(GET, "/search", Policy(View, AnyApp), search::page),
        Route::new(GET, "/forecast", Policy(View, AnyApp), forecast::page),
        Route::new(GET, "/reports", Policy(View, AnyApp), reports::page::page),
        Route::new(GET, "/reports/export", Policy(View, AnyApp), reports::export::export),
    ]
}

fn of_calendars() -> Vec<Route> {
    vec![
        Route::new(GET, "/calendars", Policy(View, Shared), calendars::list::list),
        Route::new(POST, "/calendars", Policy(Edit, Shared), calendars::form::create),
        Route::new(GET, "/calendars/new", Policy(Edit, Shared), calendars::form::new),
        Route::new(GET, "/calendars/{name}/edit", Policy(Edit, Shared), calendars::form::edit),
        Route::new(POST, "/calendars/{name}/edit", Policy(Edit, Shared), calendars::form::update),
        Route::new(GET, "/calendars/{name}/delete", Policy(Edit, Shared), calendars::delete::ask_delete),
        Route::new(POST, "/calendars/{name}/delete", Policy(Edit, Shared), calendars::delete::delete),
    ]
}

fn of_operations() -> Vec<Route> {
    vec![
        Route::new(GET, "/misfires", Policy(View, AnyApp), misfires::list),
        Route::new(GET, "/gaps", Policy(View, AnyApp), gaps::page),
        Route::new(GET, "/nodes", Policy(View, Installation), nodes::page),
        Route::new(GET, "/retention", Policy(View, Shared), retention::page),
        Route::new(GET, "/retention/edit", Policy(Administer, Installation), retention_form::all),
        Route::new(POST, "/retention/edit", Policy(Administer, Installation), retention_form::set_all),
    ]
}

fn of_apps() -> Vec<Route> {
    vec![
        Route::new(GET, "/apps", Policy(View, AnyApp), apps::list::list),
        Route::new(POST, "/apps", Policy(Administer, Installation), apps::new::create),
        Route::new(GET, "/apps/new", Policy(Administer, Installation), apps::new::new),
        Route::new(GET, "/pauses", Policy(View, AnyApp), pauses::list::list),
        Route::new(POST, "/pauses", Policy(Operate, AnyApp), pauses::list::create),
        Route::new(GET, "/pauses/windows/new", Policy(Operate, AnyApp), pauses::windows::new),
        Route::new(POST, "/pauses/windows", Policy(Operate, AnyApp), pauses::windows::create),
        Route::new(POST, "/pauses/windows/{id}/end", Policy(Operate, AnyApp), pauses::windows::end),
        Route::new(POST, "/pauses/windows/{id}/delete", Policy(Operate, AnyApp), pauses::windows::delete),
        Route::new(POST, "/pauses/{id}/end", Policy(Operate, AnyApp), pauses::list::end),
        Route::new(GET, "/apps/{id}", Policy(Administer, App), apps::page::page),
        Route::new(POST, "/apps/{id}", Policy(Administer, Installation), apps::page::update),
        Route::new(
            POST,
            "/apps/{id}/former-names/remove",
            Policy(Administer, Installation),
            apps::page::remove_former_name,
        ),
        Route::new(POST, "/apps/{id}/starters", Policy(Administer, App), apps::page::set_starters),
        Route::new(GET, "/apps/{id}/delete", Policy(Administer, Installation), apps::delete::ask_delete),
        Route::new(POST, "/apps/{id}/delete", Policy(Administer, Installation), apps::delete::delete),
        Route::new(POST, "/apps/{id}/executors", Policy(Administer, Installation), apps::page::enter),
        Route::new(GET, "/apps/{id}/executor", Policy(Operate, App), apps::executor::edit),
        Route::new(POST, "/apps/{id}/executor", Policy(Administer, App), apps::executor::update),
        Route::new(POST, "/apps/{id}/executor/drain", Policy(Operate, App), apps::executor::drain),
        Route::new(POST, "/apps/{id}/executor/remove", Policy(Administer, App), apps::executor::remove),
        Route::new(GET, "/apps/{id}/retention", Policy(Administer, App), retention_form::of_app),
        Route::new(POST, "/apps/{id}/retention", Policy(Administer, App), retention_form::set_app),
        Route::new(GET, "/apps/{id}/tokens", Policy(Administer, App), apps::tokens::page),
        Route::new(POST, "/apps/{id}/tokens", Policy(Administer, App), apps::tokens::create),
        Route::new(POST, "/apps/{id}/tokens/rule", Policy(Administer, App), apps::tokens::set_rule),
        Route::new(POST, "/apps/{id}/tokens/{token}/revoke", Policy(Administer, App), apps::tokens::revoke),
    ]
}

fn of_alerts() -> Vec<Route> {
    vec![
        Route::new(GET, "/alerts", Policy(View, AnyApp), alerts::list::list),
        Route::new(POST, "/alerts/bulk", Policy(Operate, AnyApp), alerts::bulk::bulk),
        Route::new(GET, "/alerts/rules", Policy(View, AnyApp), alerts::rules::list),
        Route::new(POST, "/alerts/rules", Policy(Edit, AnyApp), alerts::rules::create),
        Route::new(GET, "/alerts/rules/new", Policy(Edit, AnyApp), alerts::rules::new),
        Route::new(GET, "/alerts/rules/{id}", Policy(Edit, AlertRule), alerts::rules::edit),
        Route::new(POST, "/alerts/rules/{id}", Policy(Edit, AlertRule), alerts::rules::update),
        Route::new(POST, "/alerts/rules/{id}/delete", Policy(Edit, AlertRule), alerts::rules::delete),
        Route::new(GET, "/alerts/channels", Policy(Administer, Installation), alerts::channels::list),
        Route::new(POST, "/alerts/channels", Policy(Administer, Installation), alerts::channels::create),
        Route::new(GET, "/alerts/channels/new", Policy(Administer, Installation), alerts::channels::new),
        Route::new(GET, "/alerts/channels/{id}", Policy(Administer, Installation), alerts::channels::edit),
        Route::new(POST, "/alerts/channels/{id}", Policy(Administer, Installation), alerts::channels::update),
        Route::new(POST, "/alerts/channels/{id}/test", Policy(Administer, Installation), alerts::channels::test),
        Route::new(POST, "/alerts/channels/{id}/delete", Policy(Administer, Installation), alerts::channels::delete),
        Route::new(GET, "/alerts/{id}", Policy(View, Alert), alerts::page::page),
        Route::new(POST, "/alerts/{id}/acknowledge", Policy(Operate, Alert), alerts::page::acknowledge),
    ]
}

fn of_people() -> Vec<Route> {
    vec![
        Route::new(GET, "/account", Own, account::page::page),
        Route::new(POST, "/account/password", Own, account::password::change),
        Route::new(POST, "/account/second-factor", Own, account::second_factor::propose),
        Route::new(POST, "/account/second-factor/confirm", Own, account::second_factor::confirm),
        Route::new(POST, "/account/second-factor/remove", Own, account::second_factor::remove),
        Route::new(POST, "/account/sessions/end", Own, account::sessions::end),
        Route::new(POST, "/account/tokens", Own, account::tokens::create),
        Route::new(POST, "/account/tokens/{id}/revoke", Own, account::tokens::revoke),
        Route::new(GET, "/audit", Policy(Administer, AnyApp), audit::list::list),
        Route::new(GET, "/audit/export", Policy(Administer, AnyApp), audit::export::export),
        Route::new(GET, "/users", Policy(Administer, Installation), users::list::list),
        Route::new(POST, "/users", Policy(Administer, Installation), users::new::create),
        Route::new(GET, "/users/new", Policy(Administer, Installation), users::new::new),
        Route::new(GET, "/users/{id}", Policy(Administer, Installation), users::page::page),
        Route::new(POST, "/users/{id}/grants", Policy(Administer, Installation), users::grants::update),
        Route::new(POST, "/users/{id}/reset", Policy(Administer, Installation), users::actions::reset),
        Route::new(POST, "/users/{id}/enable", Policy(Administer, Installation), users::actions::enable),
        Route::new(POST, "/users/{id}/disable", Policy(Administer, Installation), users::actions::disable),
        Route::new(POST, "/users/{id}/sessions/end", Policy(Administer, Installation), users::actions::end_sessions),
        Route::new(
            POST,
            "/users/{id}/tokens/{token}/revoke",
            Policy(Administer, Installation),
            users::actions::revoke_token,
        ),
        Route::new(
            POST,
            "/users/{id}/second-factor/remove",
            Policy(Administer, Installation),
            users::actions::remove_second_factor,
        ),
        Route::new(POST, "/users/{id}/delete", Policy(Administer, Installation), users::actions::delete),
    ]
}
