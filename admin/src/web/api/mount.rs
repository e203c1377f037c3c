//! Mounts the API: the routes, the check of the token, and the answers for paths and methods that do not exist.

use std::sync::LazyLock;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, Route, web};

use super::endpoint::Endpoint;
use super::error::Error;
use super::extract::Query;
use super::openapi::{self, ROOT};
use super::routes;
use crate::web::guard::bearer;
use crate::web::state::State;

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi::document(routes::all()).to_string().into());

/// Mounts the API. `web::Data<State>` must be there.
pub fn configure(config: &mut web::ServiceConfig) {
    let scope = web::scope(ROOT).app_data(openapi::Text(DOCUMENT.clone()));
    let mut scope = scope.wrap(from_fn(token)).default_service(web::to(no_such_path));
    let mut left = routes::all().into_iter().peekable();
    while let Some(first) = left.next() {
        let path = first.path;
        let mut methods = vec![first];
        while let Some(next) = left.next_if(|next| next.path == path) {
            methods.push(next);
        }
        scope = scope.service(resource(path, methods));
    }
    config.service(scope);
}

/// A path whose other methods get an error of this API.
fn resource(path: &'static str, methods: Vec<Endpoint>) -> actix_web::Resource {
    let allowed: Vec<String> = methods.iter().map(|endpoint| endpoint.method.to_string()).collect();
    let wrong = move |request: HttpRequest| {
        let error = Error::wrong_method(request.method().as_str(), &allowed);
        async move { Err::<HttpResponse, _>(error) }
    };
    let resource = web::resource(path).default_service(web::to(wrong));
    methods.into_iter().fold(resource, |resource, endpoint| resource.route(with_known_parameters(endpoint)))
}

fn with_known_parameters(endpoint: Endpoint) -> Route {
    let names = endpoint.queries;
    endpoint.route.wrap(from_fn(move |mut request: ServiceRequest, next: Next<_>| {
        let names = names.clone();
        async move {
            request.extract::<Query>().await?.check_names(&names)?;
            next.call(request).await
        }
    }))
}

/// Only the document is answered without the token: without it, not even the existence of a path is disclosed.
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
