//! Middleware of all these calls: who calls, and how the answer is written. A call without a session only signs in.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{LOCATION, ORIGIN};
use actix_web::middleware::Next;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, ResponseError as _, web};
use carillon_accounts::script_session;
use carillon_accounts::token::Bearer;
use carillon_engine::manage;
use carillon_store::Actor;

use super::answer::Dialect;
use super::call::Call;
use super::job_fields::field_of;
use super::open_api;
use super::parameters::Parameters;
use super::session_cookie::{NEW_COOKIE, OLD_COOKIE, session_value};
use super::shared_paths;
use crate::web::access::denial::{self, Refused};
use crate::web::api::Error;
use crate::web::guard::client_address::client_text;
use crate::web::guard::request_id::RequestId;
use crate::web::guard::{connection, csrf};
use crate::web::limits::{SMALL_FORM, slow_body_guard};
use crate::web::state::{Shared, State};

/// Bytes of a form with a session, as in the console.
const FORM: usize = 1 << 20;

/// Why a call does not reach its handler.
enum Refusal {
    NotSignedIn,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

pub async fn guard(
    state: Shared,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    request.extensions_mut().insert(RequestId::new());
    let dialect = expected_dialect(request.request());
    let admitted = admit(&state, &mut request, dialect).await;
    let response = match admitted {
        Ok(()) => next.call(request).await?.map_into_boxed_body(),
        Err(Refusal::NotSignedIn) => {
            let answer = not_signed_in(request.path(), dialect);
            request.into_response(answer)
        }
        Err(Refusal::Failed(error)) => {
            let (request, _) = request.into_parts();
            ServiceResponse::new(request, HttpResponse::from_error(error))
        }
    };
    Ok(finish(response, dialect))
}

/// By the cookie, or by a path that only one of the two has.
fn expected_dialect(request: &HttpRequest) -> Dialect {
    const OLD_PATHS: [&str; 7] = [
        "/jobinfo/add",
        "/jobinfo/save",
        "/jobinfo/remove",
        "/jobgroup/save",
        "/jobgroup/remove",
        "/joblog/getJobsByGroup",
        shared_paths::LOGIN,
    ];
    let has = |name: &str| request.cookie(name).is_some();
    let is_old = has(OLD_COOKIE) || OLD_PATHS.contains(&request.path());
    if is_old && !has(NEW_COOKIE) { Dialect::Old } else { Dialect::New }
}

async fn admit(state: &State, request: &mut ServiceRequest, dialect: Dialect) -> Result<(), Refusal> {
    let head = request.request().clone();
    if !is_allowed_origin(state, &head) {
        let sender = Actor::unknown(client_text(&head)).with_request(RequestId::of(&head));
        denial::record_early(&head, state, &sender, Refused::default().0, "sent by another site").await;
        return Err(Error::invalid("this request was sent by a page of another site").into());
    }
    if is_sign_in(request.path()) {
        let body = read_body(request, SMALL_FORM).await?;
        let parameters = Parameters::read(request.query_string(), &body);
        let by = Actor::unknown(client_text(&head)).with_request(RequestId::of(&head));
        request.extensions_mut().insert(Call { by, dialect, parameters });
        return Ok(());
    }
    let is_open_api = open_api::is_path(request.path());
    let by = match is_open_api {
        true => open_api::authenticate(&head, state).await?,
        false => signed_in(&head, state).await?.ok_or(Refusal::NotSignedIn)?,
    };
    if let Err(seconds) = state.count_request(&by) {
        denial::record_limit(&head, state, &by, Refused::default().0).await;
        return Err(Error::too_many(seconds).into());
    }
    connection::set_known(&head);
    let body = read_body(request, FORM).await?;
    let parameters = match is_open_api {
        true => Parameters::from_json(&body)?,
        false => Parameters::read(request.query_string(), &body),
    };
    if parameters.has_nul() {
        return Err(Error::invalid("what was sent holds the character NUL").into());
    }
    let is_new = parameters.has("pagesize") || parameters.has("ids[]");
    let dialect = if is_new { Dialect::New } else { dialect };
    request.extensions_mut().insert(by.clone());
    request.extensions_mut().insert(Call { by, dialect, parameters });
    Ok(())
}

/// A script sends neither header; a browser says which site has sent it.
fn is_allowed_origin(state: &State, request: &HttpRequest) -> bool {
    let headers = request.headers();
    let is_script = !headers.contains_key("sec-fetch-site") && !headers.contains_key(ORIGIN);
    is_script || csrf::is_same_origin(headers, state.config.public_url.as_ref()) || is_read_by_hand(request)
}

/// An address that a person has typed.
fn is_read_by_hand(request: &HttpRequest) -> bool {
    let site = request.headers().get("sec-fetch-site");
    csrf::is_safe(request.method()) && site.is_some_and(|site| site == "none")
}

fn is_sign_in(path: &str) -> bool {
    matches!(path, shared_paths::LOGIN | "/auth/doLogin" | "/auth/login" | "/toLogin")
}

/// The person of the session. None: there is none.
async fn signed_in(request: &HttpRequest, state: &State) -> Result<Option<Actor>, Error> {
    let Some(value) = session_value(request) else {
        return Ok(None);
    };
    let (source, now) = (client_text(request), state.clock.monotonic());
    if !state.credential_look_ups.may_ask(&value, &source, now) {
        state.engine.cx.metrics.rate_limited.inc();
        return Err(Error::too_many(1));
    }
    let request_id = RequestId::of(request);
    let needs_factor = state.config.admin_second_factor;
    let bearer = Bearer { source: &source, request_id: request_id.as_deref(), needs_factor };
    let found = script_session::actor(&state.store, &value, bearer, state.clock.now()).await;
    let found = found.map_err(|error| Error::from(manage::Error::from(error)))?;
    match found {
        Some(_) => state.credential_look_ups.note_right(&value),
        None => state.credential_look_ups.note_wrong(&source, now),
    }
    Ok(found)
}

async fn read_body(request: &mut ServiceRequest, limit: usize) -> Result<web::Bytes, Error> {
    let unreadable = |error: actix_web::Error| Error::invalid(format!("what was sent cannot be read: {error}"));
    let payload = request.extract::<web::Payload>().await.map_err(unreadable)?;
    match payload.to_bytes_limited(limit).await {
        Err(_too_large) => Err(Error::too_large(limit)),
        Ok(Err(error)) if slow_body_guard::is_out_of_memory(&error) => Err(Error::unavailable(slow_body_guard::FULL)),
        Ok(body) => body.map_err(unreadable),
    }
}

fn not_signed_in(path: &str, dialect: Dialect) -> HttpResponse {
    match dialect {
        Dialect::Old => HttpResponse::Found().insert_header((LOCATION, "/toLogin")).finish(),
        Dialect::New => dialect.failure(StatusCode::OK, 500, &format!("not login for path:{path}")),
    }
}

/// Scripts look at the code of the envelope: an error has the status 200 as well, but for one that asks to wait.
fn finish(response: ServiceResponse<BoxBody>, dialect: Dialect) -> ServiceResponse<BoxBody> {
    let Some(error) = response.response().error().and_then(|error| error.as_error::<Error>()) else {
        return response;
    };
    let dialect = response.request().extensions().get::<Call>().map_or(dialect, |call| call.dialect);
    let is_limit = error.status_code() == StatusCode::TOO_MANY_REQUESTS;
    let text = text_of(error, response.request().path());
    let mut answer = match (is_limit, open_api::is_path(response.request().path())) {
        (true, true) => dialect.failure(StatusCode::OK, 502, "Too many requests, please try again later."),
        (true, false) => dialect.failure(StatusCode::TOO_MANY_REQUESTS, 500, &text),
        (false, true) => dialect.failure(StatusCode::OK, 500, &format!("openapi invoke error: {text}")),
        (false, false) => dialect.failure(StatusCode::OK, 500, &text),
    };
    for (name, value) in error.error_response().headers() {
        if name == actix_web::http::header::RETRY_AFTER {
            answer.headers_mut().insert(name.clone(), value.clone());
        }
    }
    if let Some(id) = RequestId::of(response.request()) {
        RequestId(id).put_into(answer.headers_mut());
    }
    response.into_response(answer)
}

/// An error of a job's member names the field that sets it.
fn text_of(error: &Error, path: &str) -> String {
    let is_of_job = path.starts_with("/jobinfo/") || open_api::is_path(path);
    let text = error.to_string();
    match error.of_field().filter(|_| is_of_job) {
        Some(member) => format!("{}{}", field_of(member), text.strip_prefix(member).unwrap_or_default()),
        None => text,
    }
}
