//! The actor of a change.

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use carillon_store::Actor;

use crate::web::guard::session_cookie::Viewer;

/// The signed-in user and the source address, for the audit.
pub struct By(pub Actor);

impl FromRequest for By {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let source = request.peer_addr().map(|address| address.ip().to_string());
        let by = |viewer: Viewer| Self(Actor::new(viewer.name.clone(), source.unwrap_or_default()));
        std::future::ready(Viewer::from_request(request, payload).into_inner().map(by))
    }
}
