//! What an account may do.

use actix_web::web::Path;
use carillon_accounts::password::Error;
use carillon_accounts::people;
use carillon_store::VisibleApps;

use crate::web::access::Caller;
use crate::web::console::users::grant_lines::read;
use crate::web::console::users::page::{find, show};
use crate::web::forms::Form;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageResult, done};
use crate::web::state::Shared;

/// `POST /users/{id}/grants`
pub async fn update(
    state: Shared,
    by: Caller,
    viewer: Viewer,
    context: PageContext,
    id: Path<i64>,
    mut form: Form,
) -> PageResult {
    let account = find(&state, *id).await?;
    let apps = state.store.apps().list(&VisibleApps::All).await?;
    let grants = read(&mut form, &apps);
    if account.id == viewer.account_id && grants != account.grants {
        form.add_error("grants", "You cannot change your own roles; another administrator can.");
    }
    if form.is_valid() {
        let text = context.t("user-roles-saved").with("name", &account.name).to_string();
        match people::set_grants(&state.store, account.id, &grants, state.clock.now(), &by.0).await {
            Ok(()) => return Ok(done(&format!("/users/{}", account.id), &text)),
            Err(Error::Refused(text) | Error::Store(carillon_store::Error::InUse(text))) => {
                form.add_error("grants", text)
            }
            Err(error) => return Err(error.into()),
        }
    }
    show(&state, context, &viewer, account, form).await
}
