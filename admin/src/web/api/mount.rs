//! Mounts the API: the routes behind the policy, the check of the token, and the answers for paths and methods that do not exist.

use std::sync::LazyLock;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, ResponseError as _, web};

use carillon_engine::manage;

use super::endpoint::Endpoint;
use super::error::Error;
use super::extract::Query;
use super::openapi::{self, ROOT};
use super::routes;
use crate::web::access::denial::{self, Refused};
use crate::web::access::{Route, by_path, guarded};
use crate::web::guard::bearer;
use crate::web::guard::request_id::RequestId;
use crate::web::state::{Shared, State};

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| document().to_string().into());

/// The document that the API serves about itself.
pub fn document() -> serde_json::Value {
    openapi::document(routes::all())
}

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
            match request.extract::<Query>().await.and_then(|query| query.check_names(&names)) {
                Ok(()) => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
                Err(error) => Ok(ServiceResponse::new(request.into_parts().0, error.error_response())),
            }
        }
    }));
    Route { handler, ..route }
}

/// Gives the request an id, which the answer carries if it is an error.
async fn token(
    state: Shared,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let id = RequestId::new();
    request.extensions_mut().insert(id.clone());
    let mut answer = match authenticated(&state, request).await {
        Ok(request) => next.call(request).await?.map_into_boxed_body(),
        Err((request, error)) => ServiceResponse::new(request, error.error_response()),
    };
    let status = answer.status();
    if status.is_client_error() || status.is_server_error() {
        id.put_into(answer.headers_mut());
    }
    if status.is_server_error() {
        tracing::warn!(request.id = id.0, request.url = answer.request().path(), "a call of the management API failed");
    }
    Ok(answer)
}

/// Only the document is answered without the token: without it, not even the existence of a path is disclosed.
async fn authenticated(state: &State, request: ServiceRequest) -> Result<ServiceRequest, (HttpRequest, Error)> {
    if request.path() == "/api/v1/openapi.json" {
        return Ok(request);
    }
    let found = bearer::authenticate(request.request(), state).await;
    let found = found.map_err(|error| Error::from(manage::Error::from(error))).and_then(|found| Ok(found?));
    let actor = match found {
        Ok(actor) => actor,
        Err(error) => return Err((request.into_parts().0, error)),
    };
    if let Err(seconds) = state.count_request(&actor) {
        denial::record_limit(request.request(), state, &actor, Refused::default().0).await;
        return Err((request.into_parts().0, Error::too_many(seconds)));
    }
    request.extensions_mut().insert(actor);
    Ok(request)
}

async fn no_such_path(request: HttpRequest) -> Result<HttpResponse, Error> {
    Err(Error::not_found(format!("there is no {}; see {ROOT}/openapi.json", request.path())))
}
