//! The paths of the console, and what each needs.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};

use crate::web::access::{Route, access, by_path, guarded};
use crate::web::console::operations::{gaps, imports, misfires, nodes, retention, retention_form};
use crate::web::console::{
    account, alerts, apps, audit, calendars, dashboard, forecast, jobs, pauses, reports, runs, search, users, workflows,
};
use crate::web::guard::session_guard;
use crate::web::page::{PageError, assets};

/// The console, mounted at `/`.
pub fn configure(cfg: &mut ServiceConfig) {
    let mut scope = web::scope("").wrap(from_fn(session_guard::guard));
    for (path, methods) in by_path(all()) {
        let guarded = methods.into_iter().map(|route| guarded(route, |error| PageError::from(error).into()));
        scope = scope.service(guarded.fold(web::resource(path), actix_web::Resource::route));
    }
    cfg.service(scope);
}

/// A path with its methods: what each needs, and its handler.
macro_rules! routes {
    ($($path:expr => $($method:ident $($access:ident)+: $handler:path),+;)+) => {
        vec![$($( Route::new(Method::$method, $path, access!($($access)+), $handler), )+)+]
    };
}

/// The methods of a path follow each other.
pub fn all() -> Vec<Route> {
    routes! {
        // Pages that need no session. The guard refuses a change that comes from another site here, too.
        "/assets/{name:.*}" => GET Open: assets::asset;
        "/setup" => GET Open: account::setup::form, POST Open: account::setup::set_up;
        "/login" => GET Open: account::login::form, POST Open: account::sign_in::sign_in;
        "/login/code" => POST Open: account::code::check;
        "/login/openid" => GET Open: account::openid::begin;
        account::openid::CALLBACK => GET Open: account::openid::callback;
        "/reset" => GET Open: account::reset::form, POST Open: account::reset::reset;
        "/preferences" => POST Open: account::preferences::preferences;
        "/logout" => POST Own: account::login::sign_out;
        "/zones" => GET Own: account::preferences::zones;

        "/" => GET View AnyApp: dashboard::page::page;
        "/jobs" => GET View AnyApp: jobs::list::list, POST Edit AnyApp: jobs::edit::create;
        "/jobs/new" => GET Edit AnyApp: jobs::edit::new;
        "/jobs/preview" => GET View AnyApp: jobs::preview::fragment;
        "/jobs/names" => GET View AnyApp: jobs::names::names;
        "/jobs/bulk" => POST Operate AnyApp: jobs::bulk::bulk;
        "/jobs/{id}" => GET View Job: jobs::page::page;
        "/jobs/{id}/edit" => GET Edit Job: jobs::edit::edit, POST Edit Job: jobs::edit::update;
        "/jobs/{id}/copy" => GET Edit Job: jobs::edit::copy;
        "/jobs/{id}/pause" => GET Operate Job: jobs::pause::ask;
        "/jobs/{id}/enable" => POST Operate Job: jobs::pause::enable;
        "/jobs/{id}/disable" => POST Operate Job: jobs::pause::disable;
        "/jobs/{id}/delete" => GET Edit Job: jobs::delete::ask_delete, POST Edit Job: jobs::delete::delete;
        "/jobs/{id}/run" => GET Operate Job: jobs::run_now::ask, POST Operate Job: jobs::run_now::run;
        "/jobs/{id}/scheduled" => GET View Job: runs::scheduled::list;
        "/jobs/{id}/backfill" => GET View Job: jobs::backfill::ask, POST Operate Job: jobs::backfill::start;
        "/backfills/{id}/cancel" => POST Operate Backfill: jobs::backfill::cancel;
        "/jobs/{id}/explain" => GET View Job: jobs::explain::page;
        "/jobs/{id}/script" => GET Script Job: jobs::script::page, POST Script Job: jobs::script::save;
        "/jobs/{id}/history" => GET View Job: jobs::history::page;
        "/jobs/{id}/history/{revision}/restore" => GET Edit Job: jobs::restore::ask, POST Edit Job: jobs::restore::restore;
        "/jobs/{id}/retention" => GET Edit Job: retention_form::of_job, POST Edit Job: retention_form::set_job;

        "/runs" => GET View AnyApp: runs::list::list;
        "/runs/rerun" => GET Operate AnyApp: runs::bulk::ask_rerun;
        "/runs/bulk" => POST Operate AnyApp: runs::bulk::bulk;
        "/runs/{id}" => GET View Run: runs::page::page;
        "/runs/{id}/log" => GET View Run: runs::log::following;
        "/runs/{id}/log.txt" => GET View Run: runs::log_file::download;
        "/runs/{id}/kill" => GET Operate Run: runs::kill::ask_kill, POST Operate Run: runs::kill::kill;
        "/runs/{id}/cancel" => POST Operate Run: runs::scheduled::cancel;
        "/runs/{id}/move" => GET Operate Run: runs::scheduled::ask, POST Operate Run: runs::scheduled::move_to;
        "/runs/{id}/resolve" => GET Operate Run: runs::resolve::ask, POST Operate Run: runs::resolve::resolve;
        "/runs/{id}/decide" => GET Operate Run: workflows::decide::ask, POST Operate Run: workflows::decide::decide;
        "/runs/{id}/rerun" => GET Operate Run: workflows::rerun::ask, POST Operate Run: workflows::rerun::rerun;
        "/search" => GET View AnyApp: search::page;
        "/forecast" => GET View AnyApp: forecast::page;
        "/reports" => GET View AnyApp: reports::page::page;
        "/reports/export" => GET View AnyApp: reports::export::export;

        "/calendars" => GET View Shared: calendars::list::list, POST Edit Shared: calendars::form::create;
        "/calendars/new" => GET Edit Shared: calendars::form::new;
        "/calendars/{name}/edit" => GET Edit Shared: calendars::form::edit, POST Edit Shared: calendars::form::update;
        "/calendars/{name}/delete" => GET Edit Shared: calendars::delete::ask_delete, POST Edit Shared: calendars::delete::delete;

        "/limits" => GET View AnyApp: apps::limits::list::list, POST Administer AnyApp: apps::limits::form::create;
        "/limits/new" => GET Administer AnyApp: apps::limits::form::new;
        "/limits/{id}" => GET View AnyApp: apps::limits::page::page;
        "/limits/{id}/edit" => GET Administer AnyApp: apps::limits::form::edit, POST Administer AnyApp: apps::limits::form::update;
        "/limits/{id}/delete" => GET Administer AnyApp: apps::limits::delete::ask_delete, POST Administer AnyApp: apps::limits::delete::delete;

        "/misfires" => GET View AnyApp: misfires::list;
        "/gaps" => GET View AnyApp: gaps::page;
        "/nodes" => GET View Installation: nodes::page;
        "/imports" => GET Administer Installation: imports::page;
        "/retention" => GET View Shared: retention::page;
        "/retention/edit" => GET Administer Installation: retention_form::all, POST Administer Installation: retention_form::set_all;

        "/apps" => GET View AnyApp: apps::list::list, POST Administer Installation: apps::new::create;
        "/apps/new" => GET Administer Installation: apps::new::new;
        "/pauses" => GET View AnyApp: pauses::list::list, POST Operate AnyApp: pauses::list::create;
        "/pauses/windows/new" => GET Operate AnyApp: pauses::windows::new;
        "/pauses/windows" => POST Operate AnyApp: pauses::windows::create;
        "/pauses/windows/{id}/end" => POST Operate AnyApp: pauses::windows::end;
        "/pauses/windows/{id}/delete" => POST Operate AnyApp: pauses::windows::delete;
        "/pauses/{id}/end" => POST Operate AnyApp: pauses::list::end;
        "/apps/{id}" => GET Administer App: apps::page::page, POST Administer Installation: apps::page::update;
        "/apps/{id}/former-names/remove" => POST Administer Installation: apps::page::remove_former_name;
        "/apps/{id}/starters" => POST Administer App: apps::page::set_starters;
        "/apps/{id}/delete" => GET Administer Installation: apps::delete::ask_delete, POST Administer Installation: apps::delete::delete;
        "/apps/{id}/executors" => POST Administer Installation: apps::page::enter;
        "/apps/{id}/executor" => GET Operate App: apps::executor::edit, POST Administer App: apps::executor::update;
        "/apps/{id}/executor/drain" => POST Operate App: apps::executor::drain;
        "/apps/{id}/executor/remove" => POST Administer App: apps::executor::remove;
        "/apps/{id}/retention" => GET Administer App: retention_form::of_app, POST Administer App: retention_form::set_app;
        "/apps/{id}/tokens" => GET Administer App: apps::tokens::page, POST Administer App: apps::tokens::create;
        "/apps/{id}/declarations" => GET View App: apps::declarations::page, POST Administer App: apps::declarations::set;
        "/apps/{id}/secrets" => GET Administer App: apps::secrets::page, POST Administer App: apps::secrets::set;
        "/apps/{id}/secrets/remove" => POST Administer App: apps::secrets::remove;
        "/apps/{id}/tokens/rule" => POST Administer App: apps::tokens::set_rule;
        "/apps/{id}/tokens/{token}/revoke" => POST Administer App: apps::tokens::revoke;

        "/alerts" => GET View AnyApp: alerts::list::list;
        "/alerts/bulk" => POST Operate AnyApp: alerts::bulk::bulk;
        "/alerts/rules" => GET View AnyApp: alerts::rules::list, POST Edit AnyApp: alerts::rules::create;
        "/alerts/rules/new" => GET Edit AnyApp: alerts::rules::new;
        "/alerts/rules/{id}" => GET Edit AlertRule: alerts::rules::edit, POST Edit AlertRule: alerts::rules::update;
        "/alerts/rules/{id}/delete" => POST Edit AlertRule: alerts::rules::delete;
        "/alerts/channels" => GET Administer Installation: alerts::channels::list, POST Administer Installation: alerts::channels::create;
        "/alerts/channels/new" => GET Administer Installation: alerts::channels::new;
        "/alerts/channels/{id}" => GET Administer Installation: alerts::channels::edit,
            POST Administer Installation: alerts::channels::update;
        "/alerts/channels/{id}/test" => POST Administer Installation: alerts::channels::test;
        "/alerts/channels/{id}/delete" => POST Administer Installation: alerts::channels::delete;
        "/alerts/{id}" => GET View Alert: alerts::page::page;
        "/alerts/{id}/acknowledge" => POST Operate Alert: alerts::page::acknowledge;

        "/account" => GET Own: account::page::page;
        "/account/password" => POST Own: account::password::change;
        "/account/second-factor" => POST Own: account::second_factor::propose;
        "/account/second-factor/confirm" => POST Own: account::second_factor::confirm;
        "/account/second-factor/remove" => POST Own: account::second_factor::remove;
        "/account/sessions/end" => POST Own: account::sessions::end;
        "/account/tokens" => POST Own: account::tokens::create;
        "/account/tokens/{id}/revoke" => POST Own: account::tokens::revoke;
        "/audit" => GET Administer AnyApp: audit::list::list;
        "/audit/export" => GET Administer AnyApp: audit::export::export;
        "/users" => GET Administer Installation: users::list::list, POST Administer Installation: users::new::create;
        "/users/new" => GET Administer Installation: users::new::new;
        "/users/{id}" => GET Administer Installation: users::page::page;
        "/users/{id}/grants" => POST Administer Installation: users::grants::update;
        "/users/{id}/reset" => POST Administer Installation: users::actions::reset;
        "/users/{id}/enable" => POST Administer Installation: users::actions::enable;
        "/users/{id}/disable" => POST Administer Installation: users::actions::disable;
        "/users/{id}/sessions/end" => POST Administer Installation: users::actions::end_sessions;
        "/users/{id}/tokens/{token}/revoke" => POST Administer Installation: users::actions::revoke_token;
        "/users/{id}/second-factor/remove" => POST Administer Installation: users::actions::remove_second_factor;
        "/users/{id}/delete" => POST Administer Installation: users::actions::delete;
    }
}
