//! Signing in by the OpenID provider.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::Query;
use carillon_accounts::openid::{self, Error, Finished, Provider};
use carillon_accounts::session::SignedIn;
use carillon_scheduler::AuditAction;
use carillon_store::people::provided::{ProvidedAccount, ProvidedSignIn};
use carillon_store::people::sessions::SignInMethod;
use carillon_store::{Actor, AuditObject};
use serde::Deserialize;
use serde_json::json;

use crate::web::console::account::login::{self, LoginQuery};
use crate::web::console::account::step_cookie;
use crate::web::page::{PageContext, PageError, PageResult, local_address, redirect};
use crate::web::state::{Shared, State};

/// Where the provider sends the browser back to.
pub const CALLBACK: &str = "/login/openid/callback";

fn provider(state: &State) -> Result<&Provider, PageError> {
    state.openid.as_ref().ok_or_else(|| PageError::Missing("page".to_owned()))
}

/// `GET /login/openid`: a link, as the pages' policy lets forms go nowhere else.
pub async fn begin(state: Shared, request: HttpRequest, context: PageContext, query: Query<LoginQuery>) -> PageResult {
    let (provider, next) = (provider(&state)?, local_address(&query.next));
    // Another site must not sign a person in.
    let site = request.headers().get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Ok(redirect("/login"));
    }
    let browser = step_cookie::secret(&request);
    match openid::begin(&state.store, provider, &browser, next, state.clock.now()).await {
        Ok(begun) => {
            let mut answer = redirect(&begun.url);
            answer.add_cookie(&step_cookie::cookie(browser)).map_err(PageError::from_cookie)?;
            Ok(answer)
        }
        Err(error) => {
            let why = explain(provider, &error)?;
            Ok(login::refused(&state, context, next, why, None))
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Returned {
    state: String,
    code: String,
    /// RFC 9207.
    iss: Option<String>,
    error: Option<String>,
}

/// `GET /login/openid/callback`
pub async fn callback(state: Shared, request: HttpRequest, context: PageContext, query: Query<Returned>) -> PageResult {
    let provider = provider(&state)?;
    let by = login::sender(&request);
    if let Some(error) = &query.error {
        // Any page can send this: no step ends by it.
        let error: String = error.chars().filter(char::is_ascii_graphic).take(64).collect();
        let error = Error::Refused(error);
        return refuse(&state, context, (&by, None), &error.to_string(), explain(provider, &error)?).await;
    }
    let browser = step_cookie::read(&request).unwrap_or_default();
    let returned = (&*query.state, &*query.code, query.iss.as_deref());
    let finished = openid::finish(&state.store, provider, (&browser, &by), returned, state.clock.now()).await;
    let Finished { account, next } = match finished {
        Ok(finished) => finished,
        Err(error) => {
            return refuse(&state, context, (&by, None), &error.to_string(), explain(provider, &error)?).await;
        }
    };
    let name = &provider.settings.name;
    let (account, reason, text) = match account {
        ProvidedSignIn::Accepted(ProvidedAccount { account_id, name, credentials }) => {
            let who = (SignedIn::new(account_id, credentials, SignInMethod::Provider), &*name);
            return login::enter(&state, &request, context, who, (&next, ""), None).await;
        }
        ProvidedSignIn::Disabled(account) => (
            Some(account),
            "the account is disabled",
            "Your account is disabled here. An administrator can enable it.".to_owned(),
        ),
        ProvidedSignIn::NoRole(account) => (
            account,
            "no group gives a role",
            format!(
                "You are signed in at {name}, but none of your groups there has a role here. Ask an administrator for one."
            ),
        ),
    };
    refuse(&state, context, (&by, account), reason, (text, StatusCode::FORBIDDEN)).await
}

/// The sign-in page with what the person reads, and an entry of the audit with the reason.
async fn refuse(
    state: &State,
    context: PageContext,
    (by, account): (&Actor, Option<ProvidedAccount>),
    reason: &str,
    why: (String, StatusCode),
) -> PageResult {
    let reason: String = reason.chars().take(300).collect();
    let (by, id) = match account {
        Some(account) => {
            let named = Actor { name: account.name, ..by.clone() };
            (named.with_account(account.account_id), account.account_id)
        }
        None => (by.clone(), 0),
    };
    let (object, detail) = (AuditObject::account(id), json!({"reason": reason, "method": SignInMethod::Provider}));
    state.store.audit().record_refusal(&by, AuditAction::RefuseSignIn, object, detail, context.now).await?;
    Ok(login::refused(state, context, "/", why, None))
}

/// What the person reads. The log has more.
fn explain(provider: &Provider, error: &Error) -> Result<(String, StatusCode), PageError> {
    let name = &provider.settings.name;
    let answer = match error {
        Error::Store(_) => return Err(PageError::Internal(error.to_string())),
        Error::Unknown => {
            let text = "This sign-in has expired, was used already or began in another browser. Sign in again.";
            (text.to_owned(), StatusCode::UNAUTHORIZED)
        }
        Error::Refused(_) => (format!("{name} has refused the sign-in."), StatusCode::FORBIDDEN),
        Error::Unavailable(_) => (
            format!("{name} cannot be reached now, or does not answer as it should. Try again later."),
            StatusCode::SERVICE_UNAVAILABLE,
        ),
        Error::Invalid(_) => (
            format!("You are not signed in: the answer of {name} did not pass a check. The log has the reason."),
            StatusCode::BAD_GATEWAY,
        ),
    };
    tracing::warn!(error = %error, "a sign-in by the OpenID provider has failed");
    Ok(answer)
}
