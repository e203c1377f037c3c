//! The own password.

use actix_web::HttpRequest;
use carillon_accounts::own_password::{self, PasswordChange};

use crate::web::access::Caller;
use crate::web::console::account::login;
use crate::web::console::account::page::{Sent, show};
use crate::web::forms::{Fields, Form};
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageResult, redirect_with_flash};
use crate::web::state::Shared;
use crate::web::text::format::duration;

/// `POST /account/password`
pub async fn change(
    state: Shared,
    request: HttpRequest,
    by: Caller,
    viewer: Viewer,
    context: PageContext,
    fields: Fields,
) -> PageResult {
    // Passwords do not go back into the page.
    let mut form = Form::default();
    if fields.get("new") != fields.get("repeated") {
        form.add_error("new", "The two passwords differ.");
        return show(&state, context, &viewer, Sent { password: form, ..Sent::default() }).await;
    }
    let now = state.clock.now();
    let changed =
        own_password::change(&state.store, viewer.account_id, fields.get("current"), fields.get("new"), now, &by.0);
    match changed.await? {
        PasswordChange::Done => {}
        PasswordChange::WrongCurrent => form.add_error("current", "This is not your current password."),
        PasswordChange::Refused(text) => form.add_error("new", text),
        PasswordChange::Throttled { until_at } => {
            let seconds = (until_at - now + 999) / 1000;
            let time = duration(context.language, seconds * 1000);
            form.add_error("current", context.t("too-many-attempts").with("time", time).to_string());
        }
    }
    if !form.is_valid() {
        return show(&state, context, &viewer, Sent { password: form, ..Sent::default() }).await;
    }
    let text = context.t("account-password-changed").to_string();
    let mut answer = redirect_with_flash("/account", "ok", &text);
    login::start(&state, &request, &mut answer, (viewer.account_id, &viewer.name), "").await?;
    Ok(answer)
}
