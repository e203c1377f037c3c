//! The names of cookies. Where browsers reach the console by TLS, each cookie is Secure and has the prefix `__Host-`: browsers
//! send it by TLS alone, and take it from no other host, not from a sibling domain either.
//!
//! Cookies are made under their plain names; `guard` renames those of an answer, and `read` those of a request, so that no
//! page can forget it.

use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use actix_web::http::header::{HeaderMap, HeaderValue, SET_COOKIE};
use actix_web::web;

use crate::web::state::State;

const PREFIX: &str = "__Host-";

/// The cookie that the browser keeps under this plain name.
pub fn read(request: &HttpRequest, name: &str) -> Option<Cookie<'static>> {
    let is_https = request.app_data::<web::Data<State>>().is_some_and(|state| state.config.is_https());
    if !is_https {
        return request.cookie(name);
    }
    // One under the plain name may come from anybody in the network, or from a sibling domain.
    let mut cookie = request.cookie(&format!("{PREFIX}{name}"))?;
    cookie.set_name(name.to_owned());
    Some(cookie)
}

/// Makes the cookies of an answer fit for TLS.
pub fn secure(headers: &mut HeaderMap) {
    let cookies: Vec<HeaderValue> = headers.remove(SET_COOKIE).collect();
    for cookie in cookies {
        let text = cookie.to_str().unwrap_or_default();
        if let Ok(value) = HeaderValue::try_from(format!("{PREFIX}{text}; Secure")) {
            headers.append(SET_COOKIE, value);
        }
    }
}
