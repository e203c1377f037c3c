//! The own tokens of the API.

use actix_web::web;
use carillon_accounts::token::{self, TokenRequest};
use carillon_store::{GrantScope, Grants, Role};

use crate::web::access::Caller;
use crate::web::console::account::page::{Sent, refused, show, uncached};
use crate::web::forms::{Fields, Form};
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, redirect_with_flash};
use crate::web::state::Shared;

/// `POST /account/tokens`: the answer shows the token, so it is no redirect.
pub async fn create(state: Shared, by: Caller, viewer: Viewer, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let name = form.value("name").trim().to_owned();
    if let Some(complaint) = token::name_complaint(&name) {
        form.add_error("name", complaint);
    }
    let days = form.number("days", 90);
    if !(1..=token::MAX_DAYS).contains(&days) {
        form.add_error("days", format!("1 to {} days", token::MAX_DAYS));
    }
    let grants = chosen(&mut form).within(&by.0.grants);
    if grants.is_empty() {
        form.add_error("apps", "Choose at least one app.");
    }
    let mut sent = Sent::default();
    if form.is_valid() {
        let request = TokenRequest { account_id: viewer.account_id, name: &name, grants: &grants, days };
        match token::create(&state.store, &request, state.clock.now(), &by.0).await {
            Ok(token) => (sent.new_token, form) = (Some(token), Form::default()),
            Err(error) => refused(&mut form, "name", error)?,
        }
    }
    sent.token = form;
    show(&state, context, &viewer, sent).await.map(uncached)
}

/// The chosen role for the chosen apps.
fn chosen(form: &mut Form) -> Grants {
    let role: Role = match form.value("role").parse() {
        Ok(role) => role,
        Err(message) => {
            form.add_error("role", message);
            return Grants::default();
        }
    };
    let scope = |item: &String| match item.as_str() {
        "all" => Some(GrantScope::AllApps),
        id => id.parse().ok().map(GrantScope::App),
    };
    form.items("apps").iter().filter_map(scope).map(|scope| (scope, role)).collect()
}

/// `POST /account/tokens/{id}/revoke`
pub async fn revoke(state: Shared, by: Caller, viewer: Viewer, context: PageContext, id: web::Path<i64>) -> PageResult {
    match state.store.revoke_token(viewer.account_id, *id, state.clock.now(), &by.0).await? {
        true => Ok(redirect_with_flash("/account", "ok", &context.t("token-revoked").to_string())),
        false => Err(PageError::Missing("token".to_owned())),
    }
}
