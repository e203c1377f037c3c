//! Mounts the API: the routes behind the policy, the check of the token, and the answers for paths and methods that do not exist.

use std::sync::LazyLock;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, web};

use carillon_engine::manage;

use super::endpoint::Endpoint;
use super::error::Error;
use super::extract::Query;
use super::openapi::{self, ROOT};
use super::routes;
use crate::web::access::{Route, by_path, guarded};
use crate::web::guard::bearer;
use crate::web::state::Shared;

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi::document(routes::all()).to_string().into());

/// The routes, with paths below [`ROOT`].
pub fn all() -> Vec<Route> {
    routes::all().into_iter().map(with_known_parameters).collect()
}

/// Mounts the API. `web::Data<State>` must be there.
pub fn configure(config: &mut web::ServiceConfig) {
    let scope = web::scope(ROOT).app_data(openapi::Text(DOCUMENT.clone()));
    let mut scope = scope.wrap(from_fn(token)).default_service(web::to(no_such_path));
    for (path, methods) in by_path(all()) {
        scope = scope.service(resource(&path, methods));
    }
    config.service(scope);
}

/// A path whose other methods get an error of this API.
fn resource(path: &str, methods: Vec<Route>) -> actix_web::Resource {
    let allowed: Vec<String> = methods.iter().map(|route| route.method.to_string()).collect();
    let wrong = move |request: HttpRequest| {
        let error = Error::wrong_method(request.method().as_str(), &allowed);
        async move { Err::<HttpResponse, _>(error) }
    };
    let resource = web::resource(path).default_service(web::to(wrong));
    let guarded = methods.into_iter().map(|route| guarded(route, |error| Error::from(error).into()));
    guarded.fold(resource, actix_web::Resource::route)
}

fn with_known_parameters(endpoint: Endpoint) -> Route {
    let (names, route) = (endpoint.queries, endpoint.route);
    let handler = route.handler.wrap(from_fn(move |mut request: ServiceRequest, next: Next<_>| {
        let names = names.clone();
        async move {
            request.extract::<Query>().await?.check_names(&names)?;
            next.call(request).await
        }
    }));
    Route { handler, ..route }
}

/// Only the document is answered without the token: without it, not even the existence of a path is disclosed.
async fn token(
    state: Shared,
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let is_open = request.path() == "/api/v1/openapi.json";
    if !is_open {
        let found = bearer::authenticate(request.request(), &state).await;
        let actor = found.map_err(|error| Error::from(manage::Error::from(error)))?.map_err(Error::from)?;
        request.extensions_mut().insert(actor);
    }
    next.call(request).await
}

async fn no_such_path(request: HttpRequest) -> Result<HttpResponse, Error> {
    Err(Error::not_found(format!("there is no {}; see {ROOT}/openapi.json", request.path())))
}
