//! The own sessions.

use crate::web::access::Caller;
use crate::web::forms::Fields;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, done};
use crate::web::state::Shared;

/// `POST /account/sessions/end`: the one that is named, or all others.
pub async fn end(state: Shared, by: Caller, viewer: Viewer, context: PageContext, fields: Fields) -> PageResult {
    let now = state.clock.now();
    let text = match fields.get("session") {
        "" => {
            let count =
                state.store.people().close_other_sessions(viewer.account_id, &viewer.id_hash, now, &by.0).await?;
            context.t("sessions-others-ended").count("count", count)
        }
        session => match state.store.people().close_session_of(viewer.account_id, session, now, &by.0).await? {
            true => context.t("session-ended"),
            false => return Err(PageError::Missing("session".to_owned())),
        },
    };
    Ok(done("/account", text))
}
