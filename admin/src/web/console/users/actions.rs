//! What an administrator does with an account.

use actix_web::HttpRequest;
use actix_web::web::Path;
use carillon_accounts::password::Error;
use carillon_accounts::people;

use crate::web::access::Caller;
use crate::web::console::users::link;
use crate::web::console::users::page::find;
use crate::web::guard::session_cookie::Viewer;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PageResult, done, refused};
use crate::web::state::{Shared, State};

/// `POST /users/{id}/reset`: the answer shows the link, so it is no redirect.
pub async fn reset(state: Shared, request: HttpRequest, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    let made = people::reset_link(&state.store, account.id, state.clock.now(), &by.0).await?;
    Ok(link::show(&state, &request, context, (account.id, account.name, false), made))
}

/// `POST /users/{id}/enable`
pub async fn enable(state: Shared, by: Caller, viewer: Viewer, context: PageContext, id: Path<i64>) -> PageResult {
    set_enabled(&state, (&by, &viewer), &context, *id, true).await
}

/// `POST /users/{id}/disable`
pub async fn disable(state: Shared, by: Caller, viewer: Viewer, context: PageContext, id: Path<i64>) -> PageResult {
    set_enabled(&state, (&by, &viewer), &context, *id, false).await
}

async fn set_enabled(
    state: &State,
    (by, viewer): (&Caller, &Viewer),
    context: &PageContext,
    id: i64,
    enabled: bool,
) -> PageResult {
    let account = find(state, id).await?;
    if account.id == viewer.account_id {
        return Ok(not_oneself(context, id, "user-not-disable-self"));
    }
    let done = people::set_enabled(&state.store, id, enabled, state.clock.now(), &by.0).await;
    let text = context.t(if enabled { "user-is-enabled" } else { "user-is-disabled" }).with("name", account.name);
    finished(done, &format!("/users/{id}"), &format!("/users/{id}"), &text)
}

/// `POST /users/{id}/sessions/end`: tokens end, too, as who has a session may have made some.
pub async fn end_sessions(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    let ended = people::end_access(&state.store, account.id, state.clock.now(), &by.0).await?;
    let text = context.t("user-access-ended").with("name", account.name);
    let text = text.count("count", ended.sessions).count("tokens", ended.tokens);
    Ok(done(&format!("/users/{}", account.id), text))
}

/// `POST /users/{id}/tokens/{token}/revoke`
pub async fn revoke_token(state: Shared, by: Caller, context: PageContext, ids: Path<(i64, i64)>) -> PageResult {
    let (id, token_id) = *ids;
    let account = find(&state, id).await?;
    match people::revoke_token(&state.store, account.id, token_id, state.clock.now(), &by.0).await? {
        true => Ok(done(&format!("/users/{id}"), context.t("token-revoked"))),
        false => Err(PageError::Missing("token".to_owned())),
    }
}

/// `POST /users/{id}/second-factor/remove`
pub async fn remove_second_factor(
    state: Shared,
    by: Caller,
    viewer: Viewer,
    context: PageContext,
    id: Path<i64>,
) -> PageResult {
    let account = find(&state, *id).await?;
    let back = format!("/users/{}", account.id);
    if account.id == viewer.account_id {
        return Ok(refused(&back, context.t("user-own-factor")));
    }
    if account.totp_since.is_none() {
        return Err(PageError::Missing("second factor".to_owned()));
    }
    people::remove_second_factor(&state.store, account.id, state.clock.now(), &by.0).await?;
    let text = context.t("user-factor-removed").with("name", account.name);
    Ok(done(&back, text))
}

/// `POST /users/{id}/delete`
pub async fn delete(state: Shared, by: Caller, viewer: Viewer, context: PageContext, id: Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    if account.id == viewer.account_id {
        return Ok(not_oneself(&context, *id, "user-not-delete-self"));
    }
    let done = people::remove(&state.store, account.id, state.clock.now(), &by.0).await;
    let text = context.t("user-is-deleted").with("name", account.name);
    finished(done, "/users", &format!("/users/{}", account.id), &text)
}

fn not_oneself(context: &PageContext, id: i64, key: &'static str) -> actix_web::HttpResponse {
    refused(&format!("/users/{id}"), context.t(key))
}

fn finished(result: Result<(), Error>, to: &str, back: &str, text: &Message) -> PageResult {
    match result {
        Ok(()) => Ok(done(to, text)),
        Err(Error::Store(carillon_store::Error::InUse(why))) => Ok(refused(back, &why)),
        Err(error) => Err(error.into()),
    }
}
