//! The management API: JSON under `/api/v1`, bearer tokens, no cookies.
//!
//! Every route is in [`ROUTES`], in [`configure`] and in the OpenAPI document; tests compare the three. An answer that is
//! no success is `{"error":{"code","message","field"?}}`.

mod alarms;
mod apps;
mod backfills;
mod body;
mod calendars;
mod caller;
mod choice;
mod definition;
mod error;
mod executors;
mod explain;
mod forecast;
mod jobs;
mod misfires;
mod openapi;
mod params;
mod preview;
mod query;
mod retention;
mod runs;
mod time;
mod views;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::{HttpRequest, HttpResponse, Resource, web};

use self::error::Error;
use crate::web::{State, bearer};

/// Every path with its methods.
pub const ROUTES: &[(&str, &[&str])] = &[
    ("/openapi.json", &["GET"]),
    ("/apps", &["GET", "POST"]),
    ("/calendars", &["GET", "POST"]),
    ("/calendars/{name}", &["GET", "PUT", "DELETE"]),
    ("/calendars/{name}/versions", &["GET"]),
    ("/apps/{id}/executors", &["GET", "PUT"]),
    ("/retention", &["GET", "PUT"]),
    ("/apps/{id}/retention", &["GET", "PUT"]),
    ("/jobs/{id}/retention", &["GET", "PUT"]),
    ("/jobs/{id}/days", &["GET"]),
    ("/jobs", &["GET", "POST"]),
    ("/jobs:batch", &["POST"]),
    ("/jobs/{id}", &["GET", "PUT", "DELETE"]),
    ("/jobs/{id}/enable", &["POST"]),
    ("/jobs/{id}/disable", &["POST"]),
    ("/jobs/{id}/run", &["POST"]),
    ("/jobs/{id}/next", &["GET"]),
    ("/jobs/{id}/explain", &["GET"]),
    ("/jobs/{id}/backfill", &["POST"]),
    ("/jobs/{id}/backfills", &["GET"]),
    ("/backfills/{id}", &["GET"]),
    ("/backfills/{id}/cancel", &["POST"]),
    ("/runs", &["GET"]),
    ("/runs/{id}", &["GET"]),
    ("/runs/{id}/kill", &["POST"]),
    ("/runs/{id}/resolve", &["POST"]),
    ("/runs/{id}/log", &["GET"]),
    ("/misfires", &["GET"]),
    ("/alarms", &["GET"]),
    ("/preview", &["POST"]),
    ("/forecast", &["GET"]),
];

const ROOT: &str = "/api/v1";

/// Mounts the API. `web::Data<State>` must be there.
pub fn configure(config: &mut web::ServiceConfig) {
    config.service(
        web::scope(ROOT)
            .wrap(from_fn(token))
            .service(at("/openapi.json").get(openapi::document))
            .service(at("/apps").get(apps::list).post(apps::create))
            .configure(calendars)
            .configure(retentions)
            .service(at("/apps/{id}/executors").get(executors::list).put(executors::update))
            .service(at("/jobs").get(jobs::list).post(jobs::create))
            .service(at("/jobs:batch").post(jobs::create_batch))
            .service(at("/jobs/{id}").get(jobs::get).put(jobs::update).delete(jobs::delete))
            .service(at("/jobs/{id}/enable").post(jobs::enable))
            .service(at("/jobs/{id}/disable").post(jobs::disable))
            .service(at("/jobs/{id}/run").post(jobs::run))
            .service(at("/jobs/{id}/next").get(preview::next))
            .service(at("/jobs/{id}/explain").get(explain::get))
            .service(at("/jobs/{id}/backfill").post(backfills::create))
            .service(at("/jobs/{id}/backfills").get(backfills::list))
            .service(at("/backfills/{id}").get(backfills::get))
            .service(at("/backfills/{id}/cancel").post(backfills::cancel))
            .service(at("/runs").get(runs::list))
            .service(at("/runs/{id}").get(runs::get))
            .service(at("/runs/{id}/kill").post(runs::kill))
            .service(at("/runs/{id}/resolve").post(runs::resolve))
            .service(at("/runs/{id}/log").get(runs::log))
            .service(at("/misfires").get(misfires::list))
            .service(at("/alarms").get(alarms::list))
            .service(at("/preview").post(preview::unsaved))
            .service(at("/forecast").get(forecast::forecast))
            .default_service(web::to(no_such_path)),
    );
}

fn retentions(config: &mut web::ServiceConfig) {
    config
        .service(at("/retention").get(retention::get_all).put(retention::put_all))
        .service(at("/apps/{id}/retention").get(retention::get_app).put(retention::put_app))
        .service(at("/jobs/{id}/retention").get(retention::get_job).put(retention::put_job))
        .service(at("/jobs/{id}/days").get(retention::days));
}

fn calendars(config: &mut web::ServiceConfig) {
    config
        .service(at("/calendars").get(calendars::list).post(calendars::create))
        .service(at("/calendars/{name}").get(calendars::get).put(calendars::update).delete(calendars::delete))
        .service(at("/calendars/{name}/versions").get(calendars::versions));
}

/// A path whose other methods are answered in our own words.
fn at(path: &'static str) -> Methods {
    Methods(web::resource(path).default_service(web::to(wrong_method)))
}

struct Methods(Resource);

macro_rules! method {
    ($($name:ident),+) => { $(
        fn $name<F, Args>(self, handler: F) -> Self
        where
            F: actix_web::Handler<Args>,
            Args: actix_web::FromRequest + 'static,
            F::Output: actix_web::Responder + 'static,
        {
            Self(self.0.route(web::$name().to(handler)))
        }
    )+ };
}

impl Methods {
    method!(get, post, put, delete);
}

impl actix_web::dev::HttpServiceFactory for Methods {
    fn register(self, config: &mut actix_web::dev::AppService) {
        self.0.register(config);
    }
}

/// Nothing but the document is answered without the token, not even that a path does not exist.
async fn token(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let is_open = request.path() == "/api/v1/openapi.json";
    let api_token = request.app_data::<web::Data<State>>().and_then(|state| state.config.api_token.as_deref());
    if !is_open {
        bearer::check(request.request(), api_token).map_err(Error::from)?;
    }
    next.call(request).await
}

async fn no_such_path(request: HttpRequest) -> Result<HttpResponse, Error> {
    Err(Error::not_found(format!("there is no {}; see {ROOT}/openapi.json", request.path())))
}

async fn wrong_method(request: HttpRequest) -> Result<HttpResponse, Error> {
    let pattern = request.match_pattern().unwrap_or_default();
    let path = pattern.strip_prefix(ROOT).unwrap_or_default();
    let methods = ROUTES.iter().find(|(route, _)| *route == path).map_or(&[][..], |(_, methods)| methods);
    Err(Error::wrong_method(request.method().as_str(), methods))
}
