//! The cookie that binds a sign-in which has begun to its browser.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite, time};
use carillon_accounts::secret::{is_secret, random_secret};

use crate::web::guard::cookies;

const COOKIE: &str = "carillon_sign_in";

/// The secret of this browser, if it has one.
pub fn read(request: &HttpRequest) -> Option<String> {
    let cookie = cookies::read(request, COOKIE)?;
    is_secret(cookie.value()).then(|| cookie.value().to_owned())
}

/// The secret of this browser, or a new one. Kept where there is one: two windows may sign in at the same time.
pub fn secret(request: &HttpRequest) -> String {
    read(request).unwrap_or_else(random_secret)
}

/// Lax: the provider sends the browser back by a link.
pub fn cookie(secret: String) -> Cookie<'static> {
    let cookie = Cookie::build(COOKIE, secret).path("/").http_only(true).same_site(SameSite::Lax);
    cookie.max_age(time::Duration::minutes(15)).finish()
}
