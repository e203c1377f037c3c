//! Signing in and out.

use actix_web::http::header::{LOCATION, USER_AGENT};
use actix_web::{HttpRequest, HttpResponse};
use carillon_accounts::password;
use carillon_accounts::script_session::{self, Credentials, ScriptSignIn};
use carillon_accounts::token::Bearer;
use carillon_engine::manage;

use super::answer::Reply;
use super::call::Call;
use super::session_cookie::{cookie, session_value};
use crate::web::api::Error;
use crate::web::guard::client_address::client_text;
use crate::web::state::Shared;

const NEEDS_TOKEN: &str = "a password does not sign in here, since it needs a second factor or passwords are switched off; \
     make a personal token on the page of your account, and send it as the password";

/// `POST /login`, `POST /auth/doLogin`
pub async fn sign_in(state: Shared, request: HttpRequest, call: Call) -> Reply {
    let now = state.clock.now();
    let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let sent = Credentials {
        name: call.parameters.find("userName").unwrap_or_default(),
        password: call.parameters.find("password").unwrap_or_default(),
        has_passwords: state.config.has_passwords,
        agent,
    };
    let source = client_text(&request);
    let needs_factor = state.config.admin_second_factor;
    let bearer = Bearer { source: &source, request_id: call.by.request_id.as_deref(), needs_factor };
    let found = script_session::sign_in(&state.store, &sent, (&call.by, bearer), now).await.map_err(failed)?;
    match found {
        ScriptSignIn::Opened(value) => {
            let mut answer = call.done(serde_json::Value::Null);
            answer.add_cookie(&cookie(&state, call.dialect, value)).map_err(|_| Error::internal())?;
            Ok(answer)
        }
        ScriptSignIn::Wrong => {
            tracing::info!(client.address = source, "a sign-in was refused");
            Err(Error::invalid("name or password is wrong"))
        }
        ScriptSignIn::Throttled { until_at } => Err(Error::too_many_failures((until_at - now + 999) / 1000)),
        ScriptSignIn::NeedsToken => Err(Error::invalid(NEEDS_TOKEN)),
    }
}

fn failed(error: password::Error) -> Error {
    match error {
        password::Error::Store(error) => manage::Error::from(error).into(),
        password::Error::Busy => Error::unavailable(error.to_string()),
        _ => Error::internal(),
    }
}

/// `POST /logout`, `POST /auth/logout`
pub async fn sign_out(state: Shared, request: HttpRequest, call: Call) -> Reply {
    if let Some(value) = session_value(&request) {
        let closed = script_session::close(&state.store, &value, &call.by, state.clock.now()).await;
        closed.map_err(manage::Error::from)?;
    }
    let mut answer = call.done(serde_json::Value::Null);
    let mut removal = cookie(&state, call.dialect, String::new());
    removal.make_removal();
    answer.add_cookie(&removal).map_err(|_| Error::internal())?;
    Ok(answer)
}

/// `GET /toLogin`, `GET /auth/login`: the page for people.
pub async fn page() -> HttpResponse {
    HttpResponse::Found().insert_header((LOCATION, "/login")).finish()
}
