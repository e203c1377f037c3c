//! The cookie of a script's session, under the name that scripts look for. It is the only one of the answer.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite};

use super::answer::Dialect;
use crate::web::state::State;

/// Up to 3.1, and from 3.2 on.
pub const OLD_COOKIE: &str = "XXL_JOB_LOGIN_IDENTITY";
pub const NEW_COOKIE: &str = "xxl_job_login_token";

/// Ends with the client. No page is to send it, so other sites cannot make a browser do so.
pub fn cookie(state: &State, dialect: Dialect, value: String) -> Cookie<'static> {
    let name = if dialect == Dialect::Old { OLD_COOKIE } else { NEW_COOKIE };
    let path = Some(state.config.path_prefix()).filter(|path| !path.is_empty()).unwrap_or("/");
    let cookie = Cookie::build(name, value).path(path.to_owned()).http_only(true);
    cookie.same_site(SameSite::Strict).secure(state.config.is_https()).finish()
}

/// What the cookie of a request holds.
pub fn session_value(request: &HttpRequest) -> Option<String> {
    let cookie = request.cookie(NEW_COOKIE).or_else(|| request.cookie(OLD_COOKIE))?;
    Some(cookie.value().to_owned())
}
