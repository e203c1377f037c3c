//! The actor of a request, as the guard has found it: the person of a session, or the owner of a token.

use actix_web::dev::Payload;
use actix_web::error::ErrorUnauthorized;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use carillon_store::{Actor, App, AuditObject, VisibleApps};

pub struct Caller(pub Actor);

impl Caller {
    /// The apps of which lists show the objects.
    pub fn visible(&self) -> VisibleApps {
        self.0.grants.visible_apps()
    }

    /// Whether the caller sees an app that a request names. If not, the request is recorded as denied.
    pub fn may_name(&self, app: &App) -> bool {
        let is_visible = self.0.grants.role_for(app.id).is_some();
        if !is_visible {
            self.0.denials.add(AuditObject::app(app.id));
        }
        is_visible
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
