//! The actor of a request, as the guard has found it: the person of a session, or the owner of a token.

use actix_web::dev::Payload;
use actix_web::error::ErrorUnauthorized;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use carillon_store::{Actor, VisibleApps};

pub struct Caller(pub Actor);

impl Caller {
    /// The apps of which lists show the objects.
    pub fn visible(&self) -> VisibleApps {
        self.0.grants.visible_apps()
    }
}

impl FromRequest for Caller {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let actor = request.extensions().get::<Actor>().cloned();
        std::future::ready(actor.map(Self).ok_or_else(|| ErrorUnauthorized("signed out")))
    }
}
