//! The page that shows a link for a new password, once.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use carillon_accounts::people::ResetLink;
use carillon_scheduler::Millis;

use crate::web::page::{PageContext, console_address, render};
use crate::web::state::State;

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
    state: &State,
    request: &HttpRequest,
    context: PageContext,
    (id, name, is_new): (i64, String, bool),
    link: ResetLink,
) -> HttpResponse {
    let origin = console_address(state, request);
    let (link, expires_at) = (format!("{origin}/reset?secret={}", link.secret), link.expires_at);
    render(&Page { context, id, name, is_new, link, expires_at }, StatusCode::OK)
}
