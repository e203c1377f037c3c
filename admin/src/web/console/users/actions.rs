//! What an administrator does with an account.

use actix_web::{HttpRequest, web};
use carillon_accounts::password::Error;
use carillon_accounts::people;

use crate::web::access::Caller;
use crate::web::console::users::link;
use crate::web::console::users::page::find;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, redirect_with_flash};
use crate::web::state::{Shared, State};

/// `POST /users/{id}/reset`: the answer shows the link, so it is no redirect.
pub async fn reset(
    state: Shared,
    request: HttpRequest,
    by: Caller,
    context: PageContext,
    id: web::Path<i64>,
) -> PageResult {
    let account = find(&state, *id).await?;
    let made = people::reset_link(&state.store, account.id, state.clock.now(), &by.0).await?;
    Ok(link::show(&state, &request, context, (account.id, account.name, false), made))
}

/// `POST /users/{id}/enable`
pub async fn enable(state: Shared, by: Caller, viewer: Viewer, id: web::Path<i64>) -> PageResult {
    set_enabled(&state, &by, &viewer, *id, true).await
}

/// `POST /users/{id}/disable`
pub async fn disable(state: Shared, by: Caller, viewer: Viewer, id: web::Path<i64>) -> PageResult {
    set_enabled(&state, &by, &viewer, *id, false).await
}

async fn set_enabled(state: &State, by: &Caller, viewer: &Viewer, id: i64, enabled: bool) -> PageResult {
    let account = find(state, id).await?;
    if account.id == viewer.account_id {
        return Ok(not_oneself(id, "disable"));
    }
    let done = people::set_enabled(&state.store, id, enabled, state.clock.now(), &by.0).await;
    let word =
        if enabled { "can sign in again" } else { "is disabled: its sessions are ended, and its tokens do not work" };
    finished(done, &format!("/users/{id}"), &format!("/users/{id}"), &format!("{} {word}.", account.name))
}

/// `POST /users/{id}/sessions/end`
pub async fn end_sessions(state: Shared, by: Caller, id: web::Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    let count = people::end_sessions(&state.store, account.id, state.clock.now(), &by.0).await?;
    let text = match count {
        1 => format!("1 session of {} is ended.", account.name),
        count => format!("{count} sessions of {} are ended.", account.name),
    };
    Ok(redirect_with_flash(&format!("/users/{}", account.id), "ok", &text))
}

/// `POST /users/{id}/second-factor/remove`
pub async fn remove_second_factor(state: Shared, by: Caller, viewer: Viewer, id: web::Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    let back = format!("/users/{}", account.id);
    if account.id == viewer.account_id {
        return Ok(redirect_with_flash(&back, "failed", "Remove your own second factor on your page, with a code."));
    }
    if account.totp_since.is_none() {
        return Err(PageError::Missing("second factor".to_owned()));
    }
    people::remove_second_factor(&state.store, account.id, state.clock.now(), &by.0).await?;
    let text = format!("The second factor of {} is removed.", account.name);
    Ok(redirect_with_flash(&back, "ok", &text))
}

/// `POST /users/{id}/delete`
pub async fn delete(state: Shared, by: Caller, viewer: Viewer, id: web::Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    if account.id == viewer.account_id {
        return Ok(not_oneself(*id, "delete"));
    }
    let done = people::remove(&state.store, account.id, state.clock.now(), &by.0).await;
    finished(done, "/users", &format!("/users/{}", account.id), &format!("{} is deleted.", account.name))
}

fn not_oneself(id: i64, verb: &str) -> actix_web::HttpResponse {
    let text = format!("You cannot {verb} your own account; another administrator can.");
    redirect_with_flash(&format!("/users/{id}"), "failed", &text)
}

fn finished(done: Result<(), Error>, to: &str, back: &str, text: &str) -> PageResult {
    match done {
        Ok(()) => Ok(redirect_with_flash(to, "ok", text)),
        Err(Error::Store(carillon_store::Error::InUse(why))) => Ok(redirect_with_flash(back, "failed", &why)),
        Err(error) => Err(error.into()),
    }
}
