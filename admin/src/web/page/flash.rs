//! A message that a redirect carries to the next page, in a cookie of one minute.

use std::fmt::Display;

use actix_web::cookie::{Cookie, SameSite, time};
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::web::guard::cookies;
use crate::web::page::answer::redirect;

pub const FLASH: &str = "carillon_flash";

/// A short message on the page that follows an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    /// `ok` or `failed`.
    pub kind: &'static str,
    pub text: String,
}

/// What the redirect to this page left.
pub fn read(request: &HttpRequest) -> Option<Flash> {
    let cookie = cookies::read(request, FLASH)?;
    let (kind, text) = cookie.value().split_once('.')?;
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    Some(Flash { kind: if kind == "ok" { "ok" } else { "failed" }, text })
}

/// Leads to a page that says what was done.
pub fn done(to: &str, text: impl Display) -> HttpResponse {
    redirect_with_flash(to, "ok", text)
}

/// Leads to a page that says why nothing was done.
pub fn refused(to: &str, text: impl Display) -> HttpResponse {
    redirect_with_flash(to, "failed", text)
}

pub fn redirect_with_flash(to: &str, kind: &'static str, text: impl Display) -> HttpResponse {
    let text: String = text.to_string().chars().take(500).collect();
    let value = format!("{kind}.{}", URL_SAFE_NO_PAD.encode(text));
    let cookie = Cookie::build(FLASH, value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .max_age(time::Duration::minutes(1))
        .finish();
    let mut response = redirect(to);
    // The value is plain ASCII, so this cannot fail.
    let _ = response.add_cookie(&cookie);
    response
}
