//! The own sessions.

use crate::web::access::Caller;
use crate::web::forms::Fields;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageError, PageResult, redirect_with_flash};
use crate::web::state::Shared;

/// `POST /account/sessions/end`: the one that is named, or all others.
pub async fn end(state: Shared, by: Caller, viewer: Viewer, fields: Fields) -> PageResult {
    let now = state.clock.now();
    let text = match fields.get("session") {
        "" => {
            let count = state.store.close_other_sessions(viewer.account_id, &viewer.id_hash, now, &by.0).await?;
            match count {
                0 => "There was no other session.".to_owned(),
                1 => "The other session is ended.".to_owned(),
                count => format!("{count} other sessions are ended."),
            }
        }
        session => match state.store.close_session_of(viewer.account_id, session, now, &by.0).await? {
            true => "The session is ended.".to_owned(),
            false => return Err(PageError::Missing("session".to_owned())),
        },
    };
    Ok(redirect_with_flash("/account", "ok", &text))
}
