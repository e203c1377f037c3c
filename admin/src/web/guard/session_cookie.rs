//! The console's session: a cookie with the session's id, and the person who is signed in.

use actix_web::cookie::{Cookie, SameSite};
use actix_web::error::ErrorUnauthorized;
use actix_web::{HttpMessage, HttpRequest};
use carillon_accounts::session;

use crate::web::from_request::from_request;
use crate::web::guard::cookies;

const COOKIE: &str = "carillon_session";

/// The signed-in person of a request.
#[derive(Clone, Debug)]
pub struct Viewer(pub session::Viewer);

impl std::ops::Deref for Viewer {
    type Target = session::Viewer;

    fn deref(&self) -> &session::Viewer {
        &self.0
    }
}

// The session guard has put the viewer into the extensions of each request for a page that needs a session.
from_request!(Viewer: actix_web::Error, |request| {
    let viewer = request.extensions().get::<Self>().cloned();
    viewer.ok_or_else(|| ErrorUnauthorized("signed out"))
});

/// The session id that the browser sent.
pub fn session_id(request: &HttpRequest) -> Option<String> {
    cookies::read(request, COOKIE).map(|cookie| cookie.value().to_owned())
}

/// Ends with the browser; contains nothing about its owner.
pub fn cookie(id: String) -> Cookie<'static> {
    Cookie::build(COOKIE, id).path("/").http_only(true).same_site(SameSite::Lax).finish()
}

/// Removes the session's cookie from the browser.
pub fn removal() -> Cookie<'static> {
    let mut cookie = cookie(String::new());
    cookie.make_removal();
    cookie
}
