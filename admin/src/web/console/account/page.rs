//! The page of the own account: what it may do, its password, sessions and tokens.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use askama::Template;
use carillon_accounts::second_factor::Proposal;
use carillon_accounts::sign_in::Client;
use carillon_accounts::{password, session};
use carillon_store::people::sessions::SessionEntry;
use carillon_store::people::tokens::ApiToken;
use carillon_store::{App, Role};

use crate::web::access::Caller;
use crate::web::console::account::login;
use crate::web::console::users::grant_lines::{GrantLine, grant_lines};
use crate::web::forms::Form;
use crate::web::from_request::from_request;
use crate::web::guard::second_factor_rule;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, render};
use crate::web::state::{Shared, State};
use crate::web::text::browser::browser_text;

/// A token in a list.
pub struct TokenRow {
    pub token: ApiToken,
    pub may: Vec<GrantLine>,
    pub has_expired: bool,
}

/// The tokens of an account, newest first.
pub async fn token_rows(
    state: &State,
    context: &PageContext,
    account_id: i64,
    apps: &[App],
) -> Result<Vec<TokenRow>, PageError> {
    let row = |token: ApiToken| TokenRow {
        may: grant_lines(context.language, &token.grants, apps),
        has_expired: token.expires_at <= context.now,
        token,
    };
    Ok(state.store.people().tokens_of(account_id).await?.into_iter().map(row).collect())
}

#[derive(Template)]
#[template(path = "account/page.html")]
struct Page {
    context: PageContext,
    may: Vec<GrantLine>,
    password: Form,
    sessions: Vec<SessionEntry>,
    /// The session of this browser.
    own_session: String,
    token: Form,
    tokens: Vec<TokenRow>,
    /// A token that has just been made: shown on this answer and never again.
    new_token: Option<String>,
    /// What a token may be given.
    apps: Vec<App>,
    roles: Vec<Role>,
    /// The OpenID provider that the person signs in with; then there is no password.
    issuer: Option<String>,
    second_factor: SecondFactor,
}

/// The second factor, and what a form of it has led to.
struct SecondFactor {
    form: Form,
    is_on: bool,
    recovery_left: i64,
    /// A key is set with which its secret can be encrypted.
    may_set_up: bool,
    /// The setting asks it of this person.
    is_required: bool,
    /// Shown on this answer and never again.
    proposal: Option<Proposal>,
    /// A code of the secret that was shown is awaited.
    is_confirming: bool,
    /// Shown on this answer and never again.
    recovery_codes: Vec<String>,
}

impl Page {
    fn browser(&self, session: &SessionEntry) -> String {
        browser_text(self.context.language, session.agent.as_deref().unwrap_or_default())
    }
}

/// Who sends a form of the page.
pub struct Own {
    pub by: Caller,
    pub viewer: Viewer,
    pub request: HttpRequest,
    /// What the browser got when it last signed in.
    proof: Option<String>,
}

impl Own {
    pub fn client(&self) -> Client<'_> {
        Client { by: &self.by.0, proof: self.proof.as_deref() }
    }
}

from_request!(Own: actix_web::Error, |request| {
    let viewer = Viewer::extract(request).into_inner();
    let by = Caller::extract(request).into_inner();
    by.and_then(|by| Ok(Self { by, viewer: viewer?, request: request.clone(), proof: login::sent_proof(request) }))
});

/// What a form of the page sent, and what it has led to.
#[derive(Default)]
pub struct Sent {
    pub password: Form,
    pub token: Form,
    pub new_token: Option<String>,
    pub second_factor: Form,
    pub proposal: Option<Proposal>,
    pub is_confirming: bool,
    pub recovery_codes: Vec<String>,
}

/// `GET /account`
pub async fn page(state: Shared, context: PageContext, viewer: Viewer) -> PageResult {
    show(&state, context, &viewer, Sent::default()).await
}

pub(super) async fn show(state: &State, context: PageContext, viewer: &Viewer, sent: Sent) -> PageResult {
    let forms = [&sent.password, &sent.token, &sent.second_factor];
    let status = forms.into_iter().find(|form| !form.is_valid()).map_or(StatusCode::OK, Form::status);
    let all_apps = state.store.apps().list(&context.visible()).await?;
    let grants = &context.actor.grants;
    let is_on = viewer.has_second_factor || !sent.recovery_codes.is_empty();
    let second_factor = SecondFactor {
        is_on,
        recovery_left: if is_on { state.store.people().recovery_codes(viewer.account_id).await? } else { 0 },
        may_set_up: !state.config.secret_keys.is_empty(),
        is_required: second_factor_rule::is_required(state, viewer),
        is_confirming: sent.is_confirming || sent.proposal.is_some(),
        proposal: sent.proposal,
        recovery_codes: sent.recovery_codes,
        form: sent.second_factor,
    };
    let page = Page {
        second_factor,
        issuer: viewer.issuer.clone(),
        may: grant_lines(context.language, grants, &all_apps),
        password: sent.password,
        sessions: session::list(&state.store, viewer.account_id, context.now).await?,
        own_session: viewer.id_hash.clone(),
        token: sent.token,
        tokens: token_rows(state, &context, viewer.account_id, &all_apps).await?,
        new_token: sent.new_token,
        roles: Role::ALL.iter().copied().filter(|role| Some(*role) <= grants.highest()).collect(),
        apps: all_apps,
        context,
    };
    Ok(render(&page, status))
}

/// An answer to a refusal of the accounts: beside the field where it has one.
pub(super) fn refused(form: &mut Form, field: &str, error: password::Error) -> Result<(), PageError> {
    match error {
        password::Error::Refused(text) => form.add_error(field, text),
        password::Error::Store(carillon_store::Error::InUse(text)) => form.add_error(field, text),
        other => return Err(other.into()),
    }
    Ok(())
}
