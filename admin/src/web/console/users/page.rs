//! The page of an account.

use actix_web::web::Path;
use askama::Template;
use carillon_accounts::session;
use carillon_store::people::accounts::Account;
use carillon_store::people::sessions::SessionEntry;
use carillon_store::{Role, VisibleApps};

use crate::web::console::account::page::{TokenRow, token_rows};
use crate::web::console::users::grant_lines::{GrantField, filled, grant_fields};
use crate::web::forms::Form;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, render};
use crate::web::state::{Shared, State};
use crate::web::text::browser::browser_text;

#[derive(Template)]
#[template(path = "users/page.html")]
struct Page {
    context: PageContext,
    account: Account,
    is_own: bool,
    /// The roles cannot be changed here.
    is_fixed: bool,
    form: Form,
    grants: Vec<GrantField>,
    roles: &'static [Role],
    sessions: Vec<SessionEntry>,
    tokens: Vec<TokenRow>,
}

impl Page {
    fn browser(&self, session: &SessionEntry) -> String {
        browser_text(self.context.language, session.agent.as_deref().unwrap_or_default())
    }

    /// The address of the page.
    fn place(&self) -> String {
        format!("/users/{}", self.account.id)
    }
}

/// `GET /users/{id}`
pub async fn page(state: Shared, context: PageContext, viewer: Viewer, id: Path<i64>) -> PageResult {
    let account = find(&state, *id).await?;
    let form = filled(&account.grants);
    show(&state, context, &viewer, account, form).await
}

pub(super) async fn find(state: &State, id: i64) -> Result<Account, PageError> {
    state.store.people().account(id).await?.ok_or_else(|| PageError::Missing("user".to_owned()))
}

pub(super) async fn show(
    state: &State,
    context: PageContext,
    viewer: &Viewer,
    account: Account,
    form: Form,
) -> PageResult {
    let apps = state.store.apps().list(&VisibleApps::All).await?;
    let status = form.status();
    let page = Page {
        is_own: account.id == viewer.account_id,
        is_fixed: account.id == viewer.account_id || account.issuer.is_some(),
        grants: grant_fields(context.language, &form, &apps),
        roles: Role::ALL,
        sessions: session::list(&state.store, account.id, context.now).await?,
        tokens: token_rows(state, &context, account.id, &apps).await?,
        form,
        account,
        context,
    };
    Ok(render(&page, status))
}
