//! The second step of signing in: a code after the password.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use askama::Template;
use carillon_accounts::second_factor::{self, CodeCheck};
use carillon_accounts::secret::random_secret;
use carillon_accounts::session::SignedIn;
use carillon_accounts::sign_in::Client;
use carillon_accounts::step::{self, StepKey};
use carillon_store::Actor;
use carillon_store::people::sessions::SignInMethod;
use carillon_store::people::sign_in_steps::StepKind;
use serde::{Deserialize, Serialize};

use crate::web::console::account::kept_form::KeptForm;
use crate::web::console::account::second_factor::wait_text;
use crate::web::console::account::{login, step_cookie};
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult, done, render};
use crate::web::state::{Shared, State};

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
    /// The number of the account's credentials: the step ends when they change.
    credentials: i64,
    /// What was shown before the code.
    method: SignInMethod,
    next: String,
    zone: String,
}

/// Asks for the code of a person whose password was right.
pub async fn ask(
    state: &State,
    request: &HttpRequest,
    context: PageContext,
    (who, name): (SignedIn, &str),
    (next, zone): (&str, &str),
    kept: Option<KeptForm>,
) -> PageResult {
    let (browser, handle) = (step_cookie::secret(request), random_secret());
    let cut = |text: &str, count| text.chars().take(count).collect::<String>();
    let SignedIn { account_id, credentials, method, .. } = who;
    let (name, next, zone) = (name.to_owned(), cut(next, 2000), cut(zone, 64));
    let detail = Detail { account_id, name, credentials, method, next, zone };
    let detail = serde_json::to_string(&detail).map_err(|error| PageError::Internal(error.to_string()))?;
    let now = state.clock.now();
    // The password of one account ends no sign-in of another.
    let until = (&*format!("account {account_id}"), now + LIMIT_MS);
    let place = StepKey { browser: &browser, handle: &handle };
    step::begin(&state.store, &place, (StepKind::Code, &detail), until, now).await?;
    let mut answer = render(&Page { context, handle, error: None, kept }, StatusCode::OK);
    answer.add_cookie(&step_cookie::cookie(browser)).map_err(PageError::from_cookie)?;
    Ok(answer)
}

/// `POST /login/code`
pub async fn check(state: Shared, request: HttpRequest, context: PageContext, fields: Fields) -> PageResult {
    let (now, kept) = (state.clock.now(), KeptForm::from_fields(&fields));
    let (browser, handle) = (step_cookie::read(&request).unwrap_or_default(), fields.get("handle"));
    let place = StepKey { browser: &browser, handle };
    let found = step::find(&state.store, &place, StepKind::Code, now).await?;
    let Some(detail) = found.and_then(|detail| serde_json::from_str::<Detail>(&detail).ok()) else {
        return Ok(login::expired(&state, context, kept));
    };
    let account = state.store.people().account(detail.account_id).await?;
    if account.is_none_or(|account| account.credentials != detail.credentials || account.disabled_at.is_some()) {
        // No code is used up for a password that is another one by now.
        step::end(&state.store, &place).await?;
        return Ok(login::expired(&state, context, kept));
    }
    let again = |error: String, status: StatusCode| {
        let page = Page { context: context.clone(), handle: handle.to_owned(), error: Some(error), kept: kept.clone() };
        render(&page, status)
    };
    let by = Actor { name: detail.name.clone(), ..login::sender(&request) }.with_account(detail.account_id);
    let (keys, proof) = (&state.config.secret_keys, login::sent_proof(&request));
    let client = Client { by: &by, proof: proof.as_deref() };
    let checked = second_factor::check(&state.store, keys, detail.account_id, fields.get("code"), client, now).await?;
    let recovery_left = match checked {
        CodeCheck::Right { recovery_left } => recovery_left,
        CodeCheck::Wrong => {
            tracing::info!(client.address = by.source, "a code of a second factor was refused");
            return Ok(again("This code is wrong or was used already.".to_owned(), StatusCode::UNAUTHORIZED));
        }
        CodeCheck::Throttled { until_at } => {
            let mut answer = again(wait_text(context.language, until_at, now), StatusCode::TOO_MANY_REQUESTS);
            answer.headers_mut().insert(RETRY_AFTER, ((until_at - now + 999) / 1000).into());
            return Ok(answer);
        }
    };
    if !step::end(&state.store, &place).await? {
        return Ok(login::expired(&state, context, kept));
    }
    let who = SignedIn::new(detail.account_id, detail.credentials, detail.method);
    let (who, language) = ((SignedIn { second_step: checked.step(), ..who }, &*detail.name), context.language);
    let mut answer = login::enter(&state, &request, context, who, (&detail.next, &detail.zone), kept).await?;
    if let Some(left) = recovery_left {
        let text = language.text("code-recovery-used").count("count", left).to_string();
        for cookie in done("/", &text).cookies() {
            answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
        }
    }
    Ok(answer)
}
