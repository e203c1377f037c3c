//! The actor of a request, as the guard has found it: the person of a session, or the owner of a token.

use actix_web::HttpMessage as _;
use actix_web::error::ErrorUnauthorized;
use carillon_store::{Actor, App, AuditObject, VisibleApps};

use crate::web::from_request::from_request;

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

from_request!(Caller: actix_web::Error, |request| {
    let actor = request.extensions().get::<Actor>().cloned();
    actor.map(Self).ok_or_else(|| ErrorUnauthorized("signed out"))
});
