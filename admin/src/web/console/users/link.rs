//! The page that shows a link for a new password, once.

use actix_web::HttpRequest;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HOST, ORIGIN};
use askama::Template;
use carillon_accounts::people::ResetLink;
use carillon_scheduler::Millis;

use crate::web::page::{PageContext, render};

#[derive(Template)]
#[template(path = "users/link.html")]
struct Page {
    context: PageContext,
    id: i64,
    name: String,
    is_new: bool,
    link: String,
    expires_at: Millis,
}

/// The answer that shows the link; no cache keeps it.
pub fn show(
    request: &HttpRequest,
    context: PageContext,
    (id, name, is_new): (i64, String, bool),
    link: ResetLink,
) -> HttpResponse {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    // As the browser of the administrator reaches this console, also behind a proxy.
    let origin = text(ORIGIN).filter(|origin| origin.starts_with("http"));
    let origin = origin.map_or_else(|| format!("http://{}", text(HOST).unwrap_or_default()), str::to_owned);
    let (link, expires_at) = (format!("{origin}/reset?secret={}", link.secret), link.expires_at);
    render(&Page { context, id, name, is_new, link, expires_at }, StatusCode::OK)
}
