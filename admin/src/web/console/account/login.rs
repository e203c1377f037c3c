//! Signing in and out.

use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use chrono_tz::Tz;
use serde::Deserialize;

use crate::web::console::account::kept_form::{self, KeptForm, KeptFormPage};
use crate::web::forms::Fields;
use crate::web::guard::session_cookie::{self, Viewer};
use crate::web::page::{PageContext, PageError, PageResult, ZONE, local_address, preference, redirect, render, show};
use crate::web::state::{Shared, State};
use crate::web::text::format::duration;
use carillon_accounts::password;
use carillon_accounts::{secret, session};
use carillon_store::Actor;
use carillon_store::people::accounts::Account;
use carillon_store::people::throttle::Attempt;

#[derive(Template)]
#[template(path = "account/login.html")]
struct Page {
    context: PageContext,
    name: String,
    next: String,
    error: Option<String>,
    /// Why the page is shown instead of the requested one.
    notice: Option<&'static str>,
    /// A form that is returned after signing in.
    kept: Option<KeptForm>,
}

#[derive(Deserialize)]
pub struct LoginQuery {
    #[serde(default)]
    next: String,
}

/// `GET /login`
pub async fn form(context: PageContext, query: web::Query<LoginQuery>) -> HttpResponse {
    if context.viewer.is_some() {
        return redirect(local_address(&query.next));
    }
    let page = Page {
        context,
        name: String::new(),
        next: local_address(&query.next).to_owned(),
        error: None,
        notice: None,
        kept: None,
    };
    show(&page)
}

/// The answer to a request whose session has ended.
pub fn ask_again(context: PageContext, path: &str, fields: &Fields) -> HttpResponse {
    let kept = KeptForm::new(path, fields);
    let notice = match &kept {
        Some(_) => "What you filled in is kept: sign in, and it is here again.",
        None => "Nothing was changed. Sign in, then do it again.",
    };
    let next = kept_form::page_of(path, fields);
    let page = Page {
        context,
        name: String::new(),
        next: local_address(&next).to_owned(),
        error: None,
        notice: Some(notice),
        kept,
    };
    render(&page, StatusCode::UNAUTHORIZED)
}

/// `POST /login`
pub async fn sign_in(state: Shared, request: HttpRequest, context: PageContext, fields: Fields) -> PageResult {
    let (name, secret) = (fields.get("name"), fields.get("password"));
    let next = local_address(fields.get("next")).to_owned();
    let kept = KeptForm::from_fields(&fields);
    let again = |error: String, status: StatusCode| {
        let page = Page {
            context: context.clone(),
            name: name.to_owned(),
            next: next.clone(),
            error: Some(error),
            notice: None,
            kept: kept.clone(),
        };
        render(&page, status)
    };
    let now = state.clock.now();
    let (account_key, source_key) = subjects(&request, name);
    let attempt = state.store.begin_attempt(&[account_key.clone(), source_key.clone()], now).await?;
    if let Attempt::Refused { until_at } = attempt {
        let seconds = (until_at - now + 999) / 1000;
        let text = format!("Too many failed attempts. Try again in {}.", duration(seconds * 1000));
        let mut answer = again(text, StatusCode::TOO_MANY_REQUESTS);
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        return Ok(answer);
    }
    let account = state.store.account_by_name(name).await?;
    let known = account.as_ref().map(|account| account.password_hash.as_str());
    if !password::verify(secret, known).await? {
        tracing::info!(client.address = %source_key, "a sign-in was refused");
        let text = "Name or password is wrong.".to_owned();
        return Ok(again(text, StatusCode::UNAUTHORIZED));
    }
    let account = account.ok_or_else(|| PageError::Internal("an account vanished".into()))?;
    state.store.end_attempt(&account_key, &source_key, now).await?;
    renew_hash(&state, &account, secret).await?;
    let mut answer = redirect(&next);
    let csrf = start(&state, &request, &mut answer, (account.id, &account.name), fields.get("zone")).await?;
    let Some(kept) = kept else {
        return Ok(answer);
    };
    let mut page = show(&KeptFormPage::new(context, kept, &csrf));
    for cookie in answer.cookies() {
        page.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    Ok(page)
}

/// Opens a session, writes the audit row, and stores the browser's time zone unless one was chosen before. Returns the form
/// token of the session.
pub(super) async fn start(
    state: &State,
    request: &HttpRequest,
    answer: &mut HttpResponse,
    (account_id, name): (i64, &str),
    zone: &str,
) -> Result<String, PageError> {
    let now = state.clock.now();
    let actor = Actor::new(name, source(request));
    let object = ("account", account_id);
    state.store.record_audit(&actor, "sign_in", object, serde_json::json!({}), now).await?;
    let old = session_cookie::session_id(request);
    let opened = session::open(&state.store, old.as_deref(), account_id, now).await?;
    answer.add_cookie(&session_cookie::cookie(opened.id)).map_err(PageError::from_cookie)?;
    if request.cookie(ZONE).is_none()
        && let Ok(zone) = zone.parse::<Tz>()
    {
        let cookie = preference(ZONE, zone.name().to_owned());
        answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    Ok(opened.csrf)
}

/// Hashes the password again if its hash was made with other parameters than those of today.
async fn renew_hash(state: &State, account: &Account, secret: &str) -> Result<(), PageError> {
    if password::is_outdated(&account.password_hash) {
        let new = password::hash(secret).await?;
        state.store.rehash_password(account.id, &account.password_hash, &new).await?;
    }
    Ok(())
}

/// The keys under which failed attempts are counted: the account name (hashed: it may be long, or a password in the wrong
/// field) and the source address.
fn subjects(request: &HttpRequest, name: &str) -> (String, String) {
    (format!("account:{}", secret::hash(name)), format!("source:{}", source(request)))
}

/// The address of the client.
fn source(request: &HttpRequest) -> String {
    let address = request.peer_addr();
    address.map_or_else(|| "unknown".to_owned(), |it| it.ip().to_string())
}

/// `POST /logout`
pub async fn sign_out(state: Shared, request: HttpRequest, viewer: Viewer) -> PageResult {
    let actor = Actor::new(&viewer.name, source(&request));
    let object = ("account", viewer.account_id);
    state.store.record_audit(&actor, "sign_out", object, serde_json::json!({}), state.clock.now()).await?;
    session::close(&state.store, &viewer).await?;
    let mut answer = redirect("/login");
    answer.add_cookie(&session_cookie::removal()).map_err(PageError::from_cookie)?;
    Ok(answer)
}
