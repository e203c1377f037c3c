//! The page of the own account: what it may do, its password, sessions and tokens.

use actix_web::HttpResponse;
use askama::Template;
use carillon_accounts::{password, session};
use carillon_store::people::sessions::SessionEntry;
use carillon_store::people::tokens::ApiToken;
use carillon_store::{App, Role};

use crate::web::console::users::grant_lines::{GrantLine, grant_lines};
use crate::web::forms::Form;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::{PageContext, PageError, PageResult, render};
use crate::web::state::{Shared, State};
use crate::web::text::browser::browser_text;

struct TokenRow {
    token: ApiToken,
    may: Vec<GrantLine>,
    has_expired: bool,
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
}

impl Page {
    fn browser(&self, session: &SessionEntry) -> String {
        browser_text(session.agent.as_deref().unwrap_or_default())
    }
}

/// What a form of the page sent, and what it has led to.
#[derive(Default)]
pub struct Sent {
    pub password: Form,
    pub token: Form,
    pub new_token: Option<String>,
}

/// `GET /account`
pub async fn page(state: Shared, context: PageContext, viewer: Viewer) -> PageResult {
    show(&state, context, &viewer, Sent::default()).await
}

pub(super) async fn show(state: &State, context: PageContext, viewer: &Viewer, sent: Sent) -> PageResult {
    let status = if sent.password.is_valid() { sent.token.status() } else { sent.password.status() };
    let all_apps = state.store.apps(&context.visible()).await?;
    let grants = &context.actor.grants;
    let row = |token: ApiToken| TokenRow {
        may: grant_lines(&token.grants, &all_apps),
        has_expired: token.expires_at <= context.now,
        token,
    };
    let page = Page {
        may: grant_lines(grants, &all_apps),
        password: sent.password,
        sessions: session::list(&state.store, viewer.account_id, context.now).await?,
        own_session: viewer.id_hash.clone(),
        token: sent.token,
        tokens: state.store.tokens_of(viewer.account_id).await?.into_iter().map(row).collect(),
        new_token: sent.new_token,
        roles: Role::ALL.into_iter().filter(|role| Some(*role) <= grants.highest()).collect(),
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

/// Something that is shown once must not come back from a cache.
pub(super) fn uncached(mut answer: HttpResponse) -> HttpResponse {
    use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
