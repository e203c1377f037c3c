//! Signing in with a password: the first step, and the only one of those who have no second.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use carillon_accounts::session::SignedIn;
use carillon_accounts::sign_in::{self, Client, SignIn};
use carillon_store::people::sessions::SignInMethod;

use crate::web::console::account::kept_form::KeptForm;
use crate::web::console::account::{code, login};
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult};
use crate::web::state::Shared;
use crate::web::text::format::duration;

/// `POST /login`
pub async fn sign_in(state: Shared, request: HttpRequest, context: PageContext, fields: Fields) -> PageResult {
    if !state.config.has_passwords {
        return Err(PageError::Forbidden("Passwords are switched off in this console".into()));
    }
    let (name, now) = (fields.get("name"), state.clock.now());
    let kept = KeptForm::from_fields(&fields);
    let again = |error: String, status: StatusCode| {
        login::try_again(&state, context.clone(), &fields, (error, status), kept.clone())
    };
    let by = login::sender(&request);
    let proof = login::sent_proof(&request);
    let client = Client { by: &by, proof: proof.as_deref() };
    let (who, name, has_second_factor) =
        match sign_in::check(&state.store, name, fields.get("password"), client, now).await? {
            SignIn::Accepted { account_id, name, has_second_factor, credentials } => {
                (SignedIn::new(account_id, credentials, SignInMethod::Password), name, has_second_factor)
            }
            SignIn::Wrong => {
                tracing::info!(client.address = by.source, "a sign-in was refused");
                return Ok(again("Name or password is wrong.".to_owned(), StatusCode::UNAUTHORIZED));
            }
            SignIn::Throttled { until_at } => {
                let seconds = (until_at - now + 999) / 1000;
                let time = duration(context.language, seconds * 1000);
                let text = context.t("too-many-attempts").with("time", time).to_string();
                let mut answer = again(text, StatusCode::TOO_MANY_REQUESTS);
                answer.headers_mut().insert(RETRY_AFTER, seconds.into());
                return Ok(answer);
            }
        };
    let (who, to) = ((who, &*name), (fields.get("next"), fields.get("zone")));
    match has_second_factor {
        true => code::ask(&state, &request, context, who, to, kept).await,
        false => login::enter(&state, &request, context, who, to, kept).await,
    }
}
