//! The page of signing in, the session that it opens, and signing out.

use actix_web::http::StatusCode;
use actix_web::http::header::USER_AGENT;
use actix_web::web::Query;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use carillon_accounts::session::{self, SignedIn};
use carillon_accounts::sign_in;
use carillon_scheduler::Zone;
use carillon_store::Actor;
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::console::account::kept_form::{self, KeptForm, KeptFormPage};
use crate::web::forms::Fields;
use crate::web::guard::client_address::client_text;
use crate::web::guard::cookies;
use crate::web::guard::request_id::RequestId;
use crate::web::guard::session_cookie::{self, Viewer};
use crate::web::page::{
    PageContext, PageError, PageResult, ZONE, list_address, local_address, preference, redirect, render, show,
};
use crate::web::state::{Shared, State};

/// The proof that this browser has signed in before.
const DEVICE: &str = "carillon_device";

#[derive(Template)]
#[template(path = "account/login.html")]
struct Page {
    context: PageContext,
    name: String,
    next: String,
    error: Option<String>,
    /// The key of the text that says why the page is shown instead of the requested one.
    notice: Option<&'static str>,
    /// A form that is returned after signing in.
    kept: Option<KeptForm>,
    has_passwords: bool,
    provider: Option<ProviderButton>,
}

/// The link to the OpenID provider.
struct ProviderButton {
    name: String,
    address: String,
    /// It did not answer the last time.
    has_failed: bool,
}

impl Page {
    fn new(state: &State, context: PageContext, next: &str) -> Self {
        let next = local_address(next).to_owned();
        let provider = state.openid.as_ref().map(|provider| ProviderButton {
            name: provider.settings.name.clone(),
            address: list_address("/login/openid", &[("next", &next)], None),
            has_failed: provider.failure().is_some(),
        });
        let has_passwords = state.config.has_passwords;
        Self { context, name: String::new(), next, error: None, notice: None, kept: None, has_passwords, provider }
    }
}

#[derive(Deserialize)]
pub struct LoginQuery {
    #[serde(default)]
    pub next: String,
}

/// `GET /login`
pub async fn form(state: Shared, context: PageContext, query: Query<LoginQuery>) -> HttpResponse {
    match context.viewer {
        Some(_) => redirect(local_address(&query.next)),
        None => show(&Page::new(&state, context, &query.next)),
    }
}

/// The page again, with what has gone wrong.
pub(super) fn refused(
    state: &State,
    context: PageContext,
    next: &str,
    (error, status): (String, StatusCode),
    kept: Option<KeptForm>,
) -> HttpResponse {
    render(&Page { error: Some(error), kept, ..Page::new(state, context, next) }, status)
}

/// The page again, with the name that was typed.
pub(super) fn try_again(
    state: &State,
    context: PageContext,
    fields: &Fields,
    (error, status): (String, StatusCode),
    kept: Option<KeptForm>,
) -> HttpResponse {
    let page = Page::new(state, context, fields.get("next"));
    render(&Page { name: fields.get("name").to_owned(), error: Some(error), kept, ..page }, status)
}

/// The answer to a request whose session has ended.
pub fn ask_again(state: &State, context: PageContext, path: &str, fields: &Fields) -> HttpResponse {
    // The way over the provider carries no form.
    let kept = KeptForm::new(path, fields).filter(|_| state.config.has_passwords);
    let notice = match &kept {
        Some(_) => "login-kept",
        None => "login-not-changed",
    };
    let page = Page { notice: Some(notice), kept, ..Page::new(state, context, &kept_form::page_of(path, fields)) };
    render(&page, StatusCode::UNAUTHORIZED)
}

/// Opens a session, and leads to the page that was asked for, or back to a form that was kept.
pub(super) async fn enter(
    state: &State,
    request: &HttpRequest,
    context: PageContext,
    who: (SignedIn, &str),
    (next, zone): (&str, &str),
    kept: Option<KeptForm>,
) -> PageResult {
    let mut answer = redirect(local_address(next));
    let Some(csrf) = start(state, request, &mut answer, who, zone).await? else {
        return Ok(expired(state, context, kept));
    };
    let Some(kept) = kept else {
        return Ok(answer);
    };
    let mut page = show(&KeptFormPage::new(context, kept, &csrf));
    for cookie in answer.cookies() {
        page.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    Ok(page)
}

/// The answer to a sign-in that has begun and does not count any more.
pub(super) fn expired(state: &State, context: PageContext, kept: Option<KeptForm>) -> HttpResponse {
    let text = "The sign-in has expired. Enter name and password again.".to_owned();
    refused(state, context, "/", (text, StatusCode::UNAUTHORIZED), kept)
}

/// Opens a session, and stores the browser's time zone unless one was chosen before. Returns the form token of the session. None: the
/// account signs in otherwise by now; the page that follows asks for it.
pub(super) async fn start(
    state: &State,
    request: &HttpRequest,
    answer: &mut HttpResponse,
    (who, name): (SignedIn, &str),
    zone: &str,
) -> Result<Option<String>, PageError> {
    let by = Actor { name: name.to_owned(), ..sender(request) }.with_account(who.account_id);
    let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let old = session_cookie::session_id(request);
    let opened = session::open(&state.store, &by, who, old.as_deref(), agent, state.clock.now()).await?;
    let Some(opened) = opened else {
        return Ok(None);
    };
    answer.add_cookie(&session_cookie::cookie(opened.id)).map_err(PageError::from_cookie)?;
    prove(state, answer, who.account_id).await?;
    if cookies::read(request, ZONE).is_none()
        && let Ok(zone) = zone.parse::<Zone>()
    {
        let cookie = preference(ZONE, zone.name().to_owned());
        answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    Ok(Some(opened.csrf))
}

/// Gives the browser what proves that its person has signed in with all that the account asks for now.
pub(super) async fn prove(state: &State, answer: &mut HttpResponse, account_id: i64) -> Result<(), PageError> {
    if let Some(proof) = sign_in::proof(&state.store, account_id).await? {
        answer.add_cookie(&preference(DEVICE, proof)).map_err(PageError::from_cookie)?;
    }
    Ok(())
}

/// The proof that the browser has sent.
pub(super) fn sent_proof(request: &HttpRequest) -> Option<String> {
    cookies::read(request, DEVICE).map(|cookie| cookie.value().to_owned())
}

/// The sender of a request that needs no session.
pub(super) fn sender(request: &HttpRequest) -> Actor {
    Actor::unknown(client_text(request)).with_request(RequestId::of(request))
}

/// `POST /logout`
pub async fn sign_out(state: Shared, by: Caller, viewer: Viewer) -> PageResult {
    session::close(&state.store, &viewer, state.clock.now(), &by.0).await?;
    let mut answer = redirect("/login");
    answer.add_cookie(&session_cookie::removal()).map_err(PageError::from_cookie)?;
    Ok(answer)
}
