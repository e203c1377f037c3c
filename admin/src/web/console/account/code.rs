//! The second step of signing in: a code after the password.

use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use carillon_accounts::second_factor::{self, CodeCheck};
use carillon_accounts::secret::random_secret;
use carillon_accounts::step::{self, Place};
use carillon_store::Actor;
use carillon_store::people::sign_in_steps::StepKind;
use serde::{Deserialize, Serialize};

use crate::web::console::account::kept_form::KeptForm;
use crate::web::console::account::{login, step_cookie};
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult, redirect_with_flash, render};
use crate::web::state::{Shared, State};
use crate::web::text::format::duration;

/// Time to type the code.
const LIMIT_MS: i64 = 5 * 60_000;

#[derive(Template)]
#[template(path = "account/code.html")]
struct Page {
    context: PageContext,
    /// One half of the step's name; the browser's cookie is the other.
    handle: String,
    error: Option<String>,
    kept: Option<KeptForm>,
}

/// Whose code is awaited, and what follows.
#[derive(Serialize, Deserialize)]
struct Detail {
    account_id: i64,
    name: String,
    next: String,
    zone: String,
}

/// Asks for the code of a person whose password was right.
pub async fn ask(
    state: &State,
    request: &HttpRequest,
    context: PageContext,
    (account_id, name): (i64, &str),
    (next, zone): (&str, &str),
    kept: Option<KeptForm>,
) -> PageResult {
    let (browser, handle) = (step_cookie::secret(request), random_secret());
    let cut = |text: &str, count| text.chars().take(count).collect::<String>();
    let detail = Detail { account_id, name: name.to_owned(), next: cut(next, 2000), zone: cut(zone, 64) };
    let detail = serde_json::to_string(&detail).map_err(|error| PageError::Internal(error.to_string()))?;
    let now = state.clock.now();
    let until = (&*login::sender(request).source, now + LIMIT_MS);
    let place = Place { browser: &browser, handle: &handle };
    step::begin(&state.store, &place, (StepKind::Code, &detail), until, now).await?;
    let mut answer = render(&Page { context, handle, error: None, kept }, StatusCode::OK);
    answer.add_cookie(&step_cookie::cookie(browser)).map_err(PageError::from_cookie)?;
    Ok(answer)
}

/// `POST /login/code`
pub async fn check(state: Shared, request: HttpRequest, context: PageContext, fields: Fields) -> PageResult {
    let (now, kept) = (state.clock.now(), KeptForm::from_fields(&fields));
    let (browser, handle) = (step_cookie::read(&request).unwrap_or_default(), fields.get("handle"));
    let place = Place { browser: &browser, handle };
    let found = step::find(&state.store, &place, StepKind::Code, now).await?;
    let Some(detail) = found.and_then(|detail| serde_json::from_str::<Detail>(&detail).ok()) else {
        return Ok(expired(&state, context, kept));
    };
    let again = |error: String, status: StatusCode| {
        let page = Page { context: context.clone(), handle: handle.to_owned(), error: Some(error), kept: kept.clone() };
        render(&page, status)
    };
    let by = Actor { name: detail.name.clone(), ..login::sender(&request) }.with_account(detail.account_id);
    let keys = &state.config.secret_keys;
    let checked = second_factor::check(&state.store, keys, detail.account_id, fields.get("code"), &by, now);
    let recovery_left = match checked.await? {
        CodeCheck::Right { recovery_left } => recovery_left,
        CodeCheck::Wrong => {
            tracing::info!(client.address = by.source, "a code of a second factor was refused");
            return Ok(again("This code is wrong or was used already.".to_owned(), StatusCode::UNAUTHORIZED));
        }
        CodeCheck::Throttled { until_at } => {
            let seconds = (until_at - now + 999) / 1000;
            let time = duration(context.language, seconds * 1000);
            let text = context.t("too-many-attempts").with("time", time).to_string();
            let mut answer = again(text, StatusCode::TOO_MANY_REQUESTS);
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
            return Ok(answer);
        }
    };
    if !step::end(&state.store, &place).await? {
        return Ok(expired(&state, context, kept));
    }
    let (account, language) = ((detail.account_id, &*detail.name), context.language);
    let mut answer = login::enter(&state, &request, context, account, (&detail.next, &detail.zone), kept).await?;
    if let Some(left) = recovery_left {
        let text = language.text("code-recovery-used").count("count", left).to_string();
        for cookie in redirect_with_flash("/", "ok", &text).cookies() {
            answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
        }
    }
    Ok(answer)
}

fn expired(state: &State, context: PageContext, kept: Option<KeptForm>) -> HttpResponse {
    let text = "The sign-in has expired. Enter name and password again.".to_owned();
    login::refused(state, context, "/", (text, StatusCode::UNAUTHORIZED), kept)
}
