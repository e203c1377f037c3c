//! Signing in and out.

use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use chrono_tz::Tz;
use serde::Deserialize;

use super::console::guard::Fields;
use super::console::problem::Problem;
use super::html::{self, Frame, ZONE, local_address, preference, see_other, see_other_with};
use super::kept::{self, Kept};
use super::session::{self, Viewer};
use super::{State, password};
use crate::store::Actor;
use crate::store::account::Account;
use crate::store::throttle::Attempt;

#[derive(Template)]
#[template(path = "account/login.html")]
struct Page {
    frame: Frame,
    name: String,
    next: String,
    error: Option<String>,
    /// Why the page is shown, if it was not asked for.
    notice: Option<&'static str>,
    /// A form that is handed back after signing in.
    kept: Option<Kept>,
}

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    next: String,
}

/// `GET /login`
pub async fn form(frame: Frame, asked: web::Query<Asked>) -> HttpResponse {
    if frame.viewer.is_some() {
        return see_other(local_address(&asked.next));
    }
    let page = Page {
        frame,
        name: String::new(),
        next: local_address(&asked.next).to_owned(),
        error: None,
        notice: None,
        kept: None,
    };
    html::page(&page, StatusCode::OK)
}

/// In the place of an answer: the session ended before this request.
pub fn ask_again(frame: Frame, path: &str, fields: &Fields) -> HttpResponse {
    let kept = Kept::of(path, fields);
    let notice = match &kept {
        Some(_) => "What you filled in is kept: sign in, and it is here again.",
        None => "Nothing was changed. Sign in, then do it again.",
    };
    let next = kept::page_of(path, fields);
    let page = Page {
        frame,
        name: String::new(),
        next: local_address(&next).to_owned(),
        error: None,
        notice: Some(notice),
        kept,
    };
    html::page(&page, StatusCode::UNAUTHORIZED)
}

/// `POST /login`
pub async fn sign_in(
    state: web::Data<State>,
    request: HttpRequest,
    frame: Frame,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let (name, secret) = (fields.get("name"), fields.get("password"));
    let next = local_address(fields.get("next")).to_owned();
    let kept = Kept::sent(&fields);
    let again = |error: String, status: StatusCode| {
        let page = Page {
            frame: frame.clone(),
            name: name.to_owned(),
            next: next.clone(),
            error: Some(error),
            notice: None,
            kept: kept.clone(),
        };
        html::page(&page, status)
    };
    let now = state.clock.now();
    let (account_key, source_key) = subjects(&request, name);
    let attempt = state.store.begin_attempt(&[account_key.clone(), source_key.clone()], now).await?;
    if let Attempt::Refused { until_at } = attempt {
        let seconds = (until_at - now + 999) / 1000;
        let text = format!("Too many failed attempts. Try again in {}.", html::duration(seconds * 1000));
        let mut answer = again(text, StatusCode::TOO_MANY_REQUESTS);
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        return Ok(answer);
    }
    let account = state.store.account_by_name(name).await?;
    let known = account.as_ref().map(|account| account.password_hash.as_str());
    if !password::verify(secret, known).await? {
        tracing::info!(source = %source_key, "a sign-in was refused");
        let text = "Name or password is wrong.".to_owned();
        return Ok(again(text, StatusCode::UNAUTHORIZED));
    }
    let account = account.ok_or_else(|| Problem::Internal("an account vanished".into()))?;
    state.store.end_attempt(&account_key, &source_key, now).await?;
    renew_hash(&state, &account, secret).await?;
    let mut answer = see_other(&next);
    let csrf = start(&state, &request, &mut answer, (account.id, &account.name), fields.get("zone")).await?;
    let Some(kept) = kept else {
        return Ok(answer);
    };
    let mut page = html::page(&kept::Page::new(frame, kept, &csrf), StatusCode::OK);
    for cookie in answer.cookies() {
        page.add_cookie(&cookie).map_err(cookie_failed)?;
    }
    Ok(page)
}

fn cookie_failed(error: impl std::fmt::Display) -> Problem {
    Problem::Internal(format!("cookie: {error}"))
}

/// Opens a session, says so in the audit, and remembers the browser's time zone, if it was told and none was chosen
/// before. Answers what the forms of the session carry.
pub(super) async fn start(
    state: &State,
    request: &HttpRequest,
    answer: &mut HttpResponse,
    (account_id, name): (i64, &str),
    zone: &str,
) -> Result<String, Problem> {
    let now = state.clock.now();
    let actor = Actor::new(name, source(request));
    let object = ("account", account_id);
    state.store.record_audit(&actor, "sign_in", object, serde_json::json!({}), now).await?;
    let (cookie, csrf) = session::open(&state.store, request, account_id, now).await?;
    answer.add_cookie(&cookie).map_err(cookie_failed)?;
    if request.cookie(ZONE).is_none()
        && let Ok(zone) = zone.parse::<Tz>()
    {
        let cookie = preference(ZONE, zone.name().to_owned());
        answer.add_cookie(&cookie).map_err(cookie_failed)?;
    }
    Ok(csrf)
}

/// Hashes of earlier parameters become today's when their password is at hand.
async fn renew_hash(state: &State, account: &Account, secret: &str) -> Result<(), Problem> {
    if password::is_outdated(&account.password_hash) {
        let new = password::hash(secret).await?;
        state.store.rehash_password(account.id, &account.password_hash, &new).await?;
    }
    Ok(())
}

/// Whose attempts are counted together: the name tried (as a hash: it may be long, or a password in the wrong field), and
/// the machine that tries.
fn subjects(request: &HttpRequest, name: &str) -> (String, String) {
    (format!("account:{}", session::hash(name)), format!("source:{}", source(request)))
}

/// The machine at the other end.
fn source(request: &HttpRequest) -> String {
    let address = request.peer_addr();
    address.map_or_else(|| "unknown".to_owned(), |it| it.ip().to_string())
}

/// `POST /logout`
pub async fn sign_out(state: web::Data<State>, request: HttpRequest, viewer: Viewer) -> Result<HttpResponse, Problem> {
    let actor = Actor::new(&viewer.name, source(&request));
    let object = ("account", viewer.account_id);
    state.store.record_audit(&actor, "sign_out", object, serde_json::json!({}), state.clock.now()).await?;
    let cookie = session::close(&state.store, &viewer).await?;
    let mut answer = see_other("/login");
    answer.add_cookie(&cookie).map_err(cookie_failed)?;
    Ok(answer)
}

/// `POST /preferences`: theme and zone, also before signing in.
pub async fn preferences(fields: Fields) -> Result<HttpResponse, Problem> {
    let next = local_address(fields.get("next"));
    let zone = fields.get("zone").trim();
    let known = zone.parse::<Tz>().ok();
    let mut answer = match known.is_none() && !zone.is_empty() {
        true => {
            let text = format!("{zone:.64} is not a time zone; write one such as Europe/Berlin.");
            see_other_with(next, "failed", &text)
        }
        false => see_other(next),
    };
    if let theme @ ("system" | "light" | "dark") = fields.get("theme") {
        let cookie = preference(html::THEME, theme.to_owned());
        answer.add_cookie(&cookie).map_err(cookie_failed)?;
    }
    if let Some(zone) = known {
        let cookie = preference(ZONE, zone.name().to_owned());
        answer.add_cookie(&cookie).map_err(cookie_failed)?;
    }
    Ok(answer)
}
