//! The own tokens of the API.

use actix_web::web::Path;
use carillon_accounts::token::{self, TokenRequest};
use carillon_store::{GrantScope, Grants, Role};

use crate::web::access::Caller;
use crate::web::console::account::owner;
use crate::web::console::account::page::{Own, Sent, refused, show};
use crate::web::console::account::second_factor::password_complaint;
use crate::web::forms::{Fields, Form, OWN_PASSWORD};
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, done, uncached};
use crate::web::state::Shared;

const TOO_LATE: (&str, &str) =
    ("name", "You make a token within 15 minutes after signing in. Sign out, and sign in again.");

/// `POST /account/tokens`: the answer shows the token, so it is no redirect.
pub async fn create(state: Shared, own: Own, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let password = form.take_own_password();
    let name = form.value("name").trim().to_owned();
    if let Some(complaint) = token::name_complaint(&name) {
        form.add_error("name", complaint);
    }
    let days = form.number("days", 90);
    if !(1..=token::MAX_DAYS).contains(&days) {
        form.add_error("days", format!("1 to {} days", token::MAX_DAYS));
    }
    let grants = chosen(&mut form).within(&own.by.0.grants);
    if grants.is_empty() {
        form.add_error("apps", "Choose at least one app.");
    }
    // Whether it is the right one is looked at last: each wrong password counts.
    if password.is_empty() && own.viewer.issuer.is_none() {
        form.add_error(OWN_PASSWORD, password_complaint(&password));
    }
    let mut sent = Sent::default();
    if form.is_valid()
        && let Some(credentials) = owner::check(&state, &own, &mut form, &password, &context, TOO_LATE).await?
    {
        let request =
            TokenRequest { account_id: own.viewer.account_id, name: &name, grants: &grants, days, credentials };
        match token::create(&state.store, &request, state.clock.now(), &own.by.0).await {
            Ok(token) => (sent.new_token, form) = (Some(token), Form::default()),
            Err(error) => refused(&mut form, "name", error)?,
        }
    }
    sent.token = form;
    show(&state, context, &own.viewer, sent).await.map(uncached)
}

/// The chosen role for the chosen apps.
fn chosen(form: &mut Form) -> Grants {
    let role = match form.value("role").parse::<Role>() {
        Ok(role) => role,
        Err(error) => {
            form.add_error("role", error.to_string());
            return Grants::default();
        }
    };
    let scope = |item: &String| match item.as_str() {
        "all" => Some(GrantScope::AllApps),
        id => id.parse().ok().map(GrantScope::App),
    };
    let scopes: Vec<GrantScope> = form.items("apps").iter().filter_map(scope).collect();
    let scripts = if form.is("scripts", "yes") { scopes.clone() } else { vec![] };
    scopes.into_iter().map(|scope| (scope, role)).collect::<Grants>().with_scripts(scripts)
}

/// `POST /account/tokens/{id}/revoke`
pub async fn revoke(state: Shared, by: Caller, viewer: Viewer, context: PageContext, id: Path<i64>) -> PageResult {
    match state.store.people().revoke_token(viewer.account_id, *id, state.clock.now(), &by.0).await? {
        true => Ok(done("/account", context.t("token-revoked"))),
        false => Err(PageError::Missing("token".to_owned())),
    }
}
