//! The paths, and what each needs. Reads are answered to GET and POST, as scripts send both; changes to POST alone.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};

use super::{chart, groups, guard, job_list, jobs, left_out, logs, shared_paths, sign_in};
use crate::web::access::{Route, RouteEntry, access, by_path, guarded};
use crate::web::api::Error;

pub fn configure(config: &mut ServiceConfig) {
    for (path, methods) in by_path(all()) {
        let wrong = async |request: HttpRequest| {
            let text = format!("{} is not for {}; send it as POST", request.method(), request.path());
            Err::<HttpResponse, Error>(Error::invalid(text))
        };
        let resource = web::resource(path).default_service(web::to(wrong));
        let guarded = methods.into_iter().map(|route| guarded(route, |error| Error::from(error).into()));
        config.service(guarded.fold(resource, actix_web::Resource::route).wrap(from_fn(guard::guard)));
    }
}

/// Every route that the setting adds. A path may also come after `/xxl-job-admin`.
pub fn route_table() -> Vec<RouteEntry> {
    all().into_iter().map(RouteEntry::from).collect()
}

const CHANGE: [Method; 1] = [Method::POST];
const PAGE: [Method; 1] = [Method::GET];
const READ: [Method; 2] = [Method::GET, Method::POST];

/// A path with its methods, what it needs, and its handler.
macro_rules! routes {
    ($($path:expr => $methods:ident $($access:ident)+: $handler:path;)+) => {{
        let mut routes = vec![];
        $(routes.extend($methods.map(|method| Route::new(method, $path, access!($($access)+), $handler)));)+
        routes
    }};
}

fn all() -> Vec<Route> {
    routes! {
        shared_paths::LOGIN => CHANGE Open: sign_in::sign_in;
        "/auth/doLogin" => CHANGE Open: sign_in::sign_in;
        shared_paths::LOGOUT => CHANGE Own: sign_in::sign_out;
        "/auth/logout" => CHANGE Own: sign_in::sign_out;
        "/toLogin" => PAGE Open: sign_in::page;
        "/auth/login" => PAGE Open: sign_in::page;

        "/jobinfo/pageList" => READ View AnyApp: job_list::page_list;
        "/jobinfo/nextTriggerTime" => READ View AnyApp: jobs::next_trigger_times;
        "/jobinfo/add" => CHANGE Edit AnyApp: jobs::add;
        "/jobinfo/save" => CHANGE Edit AnyApp: jobs::add;
        "/jobinfo/insert" => CHANGE Edit AnyApp: jobs::add;
        "/jobinfo/update" => CHANGE Edit AnyApp: jobs::update;
        "/jobinfo/remove" => CHANGE Edit AnyApp: jobs::remove;
        "/jobinfo/delete" => CHANGE Edit AnyApp: jobs::remove;
        "/jobinfo/start" => CHANGE Operate AnyApp: jobs::start;
        "/jobinfo/stop" => CHANGE Operate AnyApp: jobs::stop;
        "/jobinfo/trigger" => CHANGE Operate AnyApp: jobs::trigger;

        "/joblog/getJobsByGroup" => READ View AnyApp: job_list::jobs_of_group;
        "/joblog/pageList" => READ View AnyApp: logs::page_list;
        "/joblog/logDetailCat" => READ View AnyApp: logs::log;
        "/joblog/logKill" => CHANGE Operate AnyApp: logs::kill;

        "/jobgroup/pageList" => READ View AnyApp: groups::page_list;
        "/jobgroup/loadById" => READ View AnyApp: groups::load;
        "/jobgroup/save" => CHANGE Administer Installation: groups::add;
        "/jobgroup/insert" => CHANGE Administer Installation: groups::add;
        "/jobgroup/update" => CHANGE Administer Installation: groups::update;
        "/jobgroup/remove" => CHANGE Administer Installation: groups::remove;
        "/jobgroup/delete" => CHANGE Administer Installation: groups::remove;

        "/chartInfo" => READ View AnyApp: chart::chart;

        "/api/addJob" => CHANGE Edit AnyApp: jobs::add;
        "/api/updateJob" => CHANGE Edit AnyApp: jobs::update;
        "/api/removeJob" => CHANGE Edit AnyApp: jobs::remove;
        "/api/startJob" => CHANGE Operate AnyApp: jobs::start;
        "/api/stopJob" => CHANGE Operate AnyApp: jobs::stop;
        "/api/triggerJob" => CHANGE Operate AnyApp: jobs::trigger;

        "/user/{call:.*}" => READ Own: left_out::left_out;
        "/jobcode" => READ Own: left_out::left_out;
        "/jobcode/{call:.*}" => READ Own: left_out::left_out;
        "/auth/updatePwd" => CHANGE Own: left_out::left_out;
        "/joblog/clearLog" => CHANGE Own: left_out::left_out;
    }
}
