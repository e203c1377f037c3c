//! Middleware of the console. Every request passes it, so no handler can forget a check: without a session only signing in and
//! setting up are possible, and a change needs a form of the same session.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpResponse, web};
use carillon_accounts::session;
use carillon_store::Actor;

use crate::config::Config;
use crate::web::access::denial::{self, Refused};
use crate::web::console::account::login;
use crate::web::console::account::openid::CALLBACK;
use crate::web::forms::Fields;
use crate::web::guard::client_address::{client_text, is_from_proxy};
use crate::web::guard::request_id::RequestId;
use crate::web::guard::session_cookie::{self, Viewer};
use crate::web::guard::{connection, cookies, csrf, second_factor_rule};
use crate::web::limits::{SMALL_FORM, body_memory, slow_body_guard};
use crate::web::page::{FLASH, PageContext, PageError, error_page, redirect};
use crate::web::state::{Shared, State};

/// Sent by the script when it refreshes a page, so that the session does not count as active.
pub const LIVE: &str = "x-carillon-live";

pub async fn guard(
    state: Shared,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    request.extensions_mut().insert(RequestId::new());
    let response = match admit(&state, &mut request).await {
        Ok(None) => next.call(request).await?.map_into_boxed_body(),
        Ok(Some(answer)) => answered(request, answer),
        Err(error) => answered(request, HttpResponse::from_error(error)),
    };
    Ok(finish(response, &state.config))
}

/// Unlike `into_response`, keeps the error, from which the page is rendered.
fn answered(request: ServiceRequest, answer: HttpResponse) -> ServiceResponse<BoxBody> {
    let (request, _) = request.into_parts();
    ServiceResponse::new(request, answer)
}

/// None: the request goes on. Otherwise this is its answer.
async fn admit(state: &State, request: &mut ServiceRequest) -> Result<Option<HttpResponse>, PageError> {
    if let Some(public) = &state.config.public_url
        && !public.is_host(asked_host(state, request))
    {
        return Err(PageError::Misdirected(public.address()));
    }
    let safe = csrf::is_safe(request.method());
    if !safe && !csrf::is_same_origin(request.headers(), state.config.public_url.as_ref()) {
        record_foreign(state, request).await;
        return Err(PageError::Forbidden("This request does not come from a page of this console".into()));
    }
    let asked = request.query_string();
    if url::form_urlencoded::parse(asked.as_bytes()).any(|(_, value)| value.contains('\0')) {
        return Err(PageError::Bad(NUL.into()));
    }
    let path = request.path().to_owned();
    if path.starts_with("/assets/") {
        return Ok(None);
    }
    let active = !request.headers().contains_key(LIVE);
    let Some(viewer) = viewer_of(state, request, active).await? else {
        return admit_unknown(state, request, safe, &path).await;
    };
    let actor = actor_of(request, &viewer);
    if let Err(seconds) = state.count_request(&actor) {
        denial::record_limit(request.request(), state, &actor, Refused::default().0).await;
        return Err(PageError::TooMany(seconds));
    }
    let form_token = viewer.csrf.clone();
    let must_set_up_factor = second_factor_rule::is_required(state, &viewer) && !viewer.has_second_factor;
    request.extensions_mut().insert(actor);
    request.extensions_mut().insert(Viewer(viewer));
    if !safe {
        body_memory::set_known(request.request());
        let fields = read_fields(request, if is_small(&path) { SMALL_FORM } else { FORM }).await?;
        // Signing in replaces the session, so its form may come from a window that was open before.
        let is_new_session = matches!(&*path, "/login" | "/login/code");
        if !is_new_session && !csrf::fits(&form_token, fields.get(csrf::FIELD)) {
            denial::record(request.request(), Refused::default()).await;
            return Err(PageError::Forbidden("This form belongs to an earlier session".into()));
        }
        request.extensions_mut().insert(fields);
    }
    if must_set_up_factor && !second_factor_rule::is_allowed_before(request.method(), &path) {
        if safe {
            return Ok(Some(redirect("/account")));
        }
        denial::record(request.request(), Refused::default()).await;
        return Err(PageError::NotAllowed("Set up your second factor first, on the page of your account".into()));
    }
    connection::set_known(request.request());
    Ok(None)
}

/// `active`: the person did something, the request is no mere refresh.
async fn viewer_of(
    state: &State,
    request: &ServiceRequest,
    active: bool,
) -> Result<Option<session::Viewer>, PageError> {
    match session_cookie::session_id(request.request()) {
        Some(id) => {
            let (look_ups, source) = (&state.credential_look_ups, client_text(request.request()));
            let now = state.clock.monotonic();
            if !look_ups.may_ask(&id, &source, now) {
                state.engine.cx.metrics.rate_limited.inc();
                return Err(PageError::TooMany(1));
            }
            let viewer = session::viewer(&state.store, &id, state.clock.now(), active).await?;
            match viewer {
                Some(_) => look_ups.note_right(&id),
                None => look_ups.note_wrong(&source, now),
            }
            Ok(viewer)
        }
        None => Ok(None),
    }
}

fn actor_of(request: &ServiceRequest, viewer: &session::Viewer) -> Actor {
    let actor = Actor::new(&viewer.name, client_text(request.request()), viewer.grants.clone());
    actor.with_account(viewer.account_id).with_request(RequestId::of(request.request())).unconfirmed()
}

/// A request that another site has made a browser send, or a program: in the audit with the person of the session, if it has one.
async fn record_foreign(state: &State, request: &ServiceRequest) {
    let viewer = viewer_of(state, request, false).await.ok().flatten();
    let unknown = || Actor::unknown(client_text(request.request())).with_request(RequestId::of(request.request()));
    let actor = viewer.map_or_else(unknown, |viewer| actor_of(request, &viewer));
    let (request, object) = (request.request(), Refused::default().0);
    denial::record_early(request, state, &actor, object, "not from a page of this console").await;
}

/// The host that the browser asked for. Where it is not the console's, a name of another site leads here, and scripts of that
/// site could read what is answered (DNS rebinding).
fn asked_host<'a>(state: &State, request: &'a ServiceRequest) -> &'a str {
    let forwarded = HeaderName::from_static("x-forwarded-host");
    let forwarded = match is_from_proxy(request.request(), &state.config.trusted_proxies) {
        true => request.headers().get(forwarded),
        false => None,
    };
    let host = forwarded.or_else(|| request.headers().get(HOST));
    host.and_then(|host| host.to_str().ok()).unwrap_or_default()
}

async fn admit_unknown(
    state: &State,
    request: &mut ServiceRequest,
    safe: bool,
    path: &str,
) -> Result<Option<HttpResponse>, PageError> {
    if matches!(path, "/login" | "/login/code" | "/login/openid" | CALLBACK | "/setup" | "/reset" | "/preferences") {
        if path != "/setup" && must_set_up(state).await? {
            return Ok(Some(redirect("/setup")));
        }
        if !safe {
            let fields = read_fields(request, SMALL_FORM).await?;
            request.extensions_mut().insert(fields);
        }
        return Ok(None);
    }
    if must_set_up(state).await? {
        return Ok(Some(redirect("/setup")));
    }
    if !safe && path != "/logout" {
        let fields = match read_fields(request, SMALL_FORM).await {
            // A caller without a session gets the small limit, so a larger form is not kept.
            Err(PageError::TooLarge(_)) => Fields::default(),
            fields => fields?,
        };
        let context = PageContext::new(request.request());
        return Ok(Some(login::ask_again(state, context, path, &fields)));
    }
    let asked = request.uri().path_and_query().map_or("/", |it| it.as_str());
    let next: String = url::form_urlencoded::byte_serialize(asked.as_bytes()).collect();
    let to = match asked {
        "/" | "/logout" => "/login".to_owned(),
        _ => format!("/login?next={next}"),
    };
    Ok(Some(redirect(&to)))
}

/// There is no account yet, and the first one has a password.
async fn must_set_up(state: &State) -> Result<bool, PageError> {
    Ok(state.config.has_passwords && !state.store.people().has_accounts().await?)
}

/// PostgreSQL stores no text with this character.
const NUL: &str = "What was sent holds the character NUL";

/// Bytes of a form with a session: a job's parameters (64 KiB, up to three characters a byte), and enough for a text that is
/// too long to come back with its error.
const FORM: usize = 1 << 20;

/// Paths whose forms are small, also with a session.
fn is_small(path: &str) -> bool {
    matches!(path, "/login" | "/login/code" | "/setup" | "/reset" | "/preferences")
}

async fn read_fields(request: &mut ServiceRequest, limit: usize) -> Result<Fields, PageError> {
    let unreadable = |error: actix_web::Error| PageError::Bad(format!("What was sent cannot be read: {error}"));
    let payload = request.extract::<web::Payload>().await.map_err(unreadable)?;
    let body = match payload.to_bytes_limited(limit).await {
        Err(_too_large) => return Err(PageError::TooLarge(limit)),
        Ok(Err(error)) if slow_body_guard::is_out_of_memory(&error) => {
            return Err(PageError::Busy(slow_body_guard::FULL));
        }
        Ok(body) => body.map_err(unreadable)?,
    };
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
    // The handlers check the parameters themselves, so that the error stands beside the field.
    let is_bad = |(name, value): &(String, String)| name != "params" && value.contains('\0');
    match fields.iter().any(is_bad) {
        true => Err(PageError::Bad(NUL.into())),
        false => Ok(Fields(fields)),
    }
}

fn finish(response: ServiceResponse<BoxBody>, config: &Config) -> ServiceResponse<BoxBody> {
    let mut response = with_page(response);
    let html = is_html(response.response());
    let shown = html && response.status().is_success() && !response.request().headers().contains_key(LIVE);
    if shown && let Some(mut cookie) = cookies::read(response.request(), FLASH) {
        cookie.set_path("/");
        cookie.make_removal();
        // A removal is plain ASCII, so this cannot fail.
        let _ = response.response_mut().add_cookie(&cookie);
    }
    cookies::finish(response.headers_mut(), config);
    response
}

/// An error without a page becomes an error page.
fn with_page(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || is_html(response.response()) {
        return response;
    }
    let context = PageContext::new(response.request());
    let id = context.request_id.clone();
    let error = response.response().error().and_then(|error| error.as_error::<PageError>());
    let mut page = error_page(context, status, error);
    RequestId(id).put_into(page.headers_mut());
    if let Some(PageError::TooMany(seconds)) = error {
        page.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
    }
    response.into_response(page)
}

fn is_html(response: &HttpResponse) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"))
}
