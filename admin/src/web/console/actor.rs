//! The actor of a change.

use actix_web::HttpRequest;

use crate::store::Actor;
use crate::web::guard::session_cookie::Viewer;

/// The signed-in user and the source address, for the audit.
pub fn actor(viewer: &Viewer, request: &HttpRequest) -> Actor {
    let source = request.peer_addr().map(|address| address.ip().to_string());
    Actor::new(viewer.name.clone(), source.unwrap_or_default())
}
