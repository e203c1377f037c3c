//! The names and paths of cookies. Where browsers reach the console by TLS, each cookie is Secure and has the prefix `__Host-`:
//! browsers send it by TLS alone, and take it from no other host, not from a sibling domain either. A console below a path of its
//! host limits its cookies to that path, which that prefix does not allow: there it is `__Secure-`.
//!
//! Cookies are made under their plain names and for all paths; `finish` completes those of an answer, and `read` finds those of a
//! request, so that no page can forget it.

use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use actix_web::http::header::{HeaderMap, HeaderValue, SET_COOKIE};
use actix_web::web;

use crate::config::Config;
use crate::web::state::State;

fn prefix(config: &Config) -> &'static str {
    match (config.is_https(), config.path_prefix()) {
        (false, _) => "",
        (true, "") => "__Host-",
        (true, _) => "__Secure-",
    }
}

/// The cookie that the browser keeps under this plain name.
pub fn read(request: &HttpRequest, name: &str) -> Option<Cookie<'static>> {
    let prefix = request.app_data::<web::Data<State>>().map_or("", |state| prefix(&state.config));
    // By TLS: one under the plain name may come from anybody in the network, or from a sibling domain.
    let mut cookie = request.cookie(&format!("{prefix}{name}"))?;
    cookie.set_name(name.to_owned());
    Some(cookie)
}

/// Completes the cookies of an answer.
pub fn finish(headers: &mut HeaderMap, config: &Config) {
    // Without a slash at its end: browsers send the cookie for the address without one too.
    let (prefix, path) = (prefix(config), Some(config.path_prefix()).filter(|path| !path.is_empty()).unwrap_or("/"));
    let secure = if config.is_https() { "; Secure" } else { "" };
    let cookies: Vec<HeaderValue> = headers.remove(SET_COOKIE).collect();
    for cookie in cookies {
        let text = cookie.to_str().unwrap_or_default().replace("; Path=/", &format!("; Path={path}"));
        if let Ok(value) = HeaderValue::try_from(format!("{prefix}{text}{secure}")) {
            headers.append(SET_COOKIE, value);
        }
    }
}
