//! The one door of the console. Every request passes it, so no handler can forget a check: nobody unknown gets further than
//! signing in or setting up, nothing changes but by a form of the session's own, every answer carries the policy.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, CONTENT_TYPE, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse, web};

use super::problem::{self, Problem};
use crate::web::html::{self, FLASH, Frame, RequestId};
use crate::web::{State, csrf, login, pace, session};

/// Sent by our script when it refreshes a page that nobody touched.
pub const LIVE: &str = "x-carillon-live";

/// The fields of a form that passed the guard, in their order.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// The last value of that name; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

impl FromRequest for Fields {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let fields = request.extensions_mut().remove::<Fields>();
        std::future::ready(Ok(fields.unwrap_or_default()))
    }
}

pub async fn guard(
    state: web::Data<State>,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let id = RequestId(format!("{:016x}", rand::random::<u64>()));
    request.extensions_mut().insert(id);
    let response = match admit(&state, &mut request).await {
        Ok(None) => next.call(request).await?.map_into_boxed_body(),
        Ok(Some(answer)) => answered(request, answer),
        Err(problem) => answered(request, HttpResponse::from_error(problem)),
    };
    Ok(finish(response))
}

/// Unlike `into_response`, keeps the error, which the page is made of.
fn answered(request: ServiceRequest, answer: HttpResponse) -> ServiceResponse<BoxBody> {
    let (request, _) = request.into_parts();
    ServiceResponse::new(request, answer)
}

/// None: go on. An answer: that is all there is for this request.
async fn admit(state: &State, request: &mut ServiceRequest) -> Result<Option<HttpResponse>, Problem> {
    let safe = csrf::is_safe(request.method());
    if !safe && !csrf::is_same_origin(request.headers()) {
        return Err(Problem::Forbidden("This request does not come from a page of this console".into()));
    }
    let asked = request.query_string();
    if url::form_urlencoded::parse(asked.as_bytes()).any(|(_, value)| value.contains('\0')) {
        return Err(Problem::Bad(NUL.into()));
    }
    let path = request.path().to_owned();
    if path.starts_with("/assets/") {
        return Ok(None);
    }
    let active = !request.headers().contains_key(LIVE);
    let viewer = session::viewer(&state.store, request.request(), state.clock.now(), active).await?;
    let Some(viewer) = viewer else {
        return admit_unknown(state, request, safe, &path).await;
    };
    if !safe {
        let fields = read_fields(request).await?;
        // A form of before somebody signed in, in another window: it replaces the session, so it needs nothing of it.
        let is_new_session = path == "/login";
        if !is_new_session && !csrf::fits(&viewer.csrf, fields.get(csrf::FIELD)) {
            return Err(Problem::Forbidden("This form belongs to an earlier session".into()));
        }
        request.extensions_mut().insert(fields);
    }
    request.extensions_mut().insert(viewer);
    Ok(None)
}

async fn admit_unknown(
    state: &State,
    request: &mut ServiceRequest,
    safe: bool,
    path: &str,
) -> Result<Option<HttpResponse>, Problem> {
    if matches!(path, "/login" | "/setup" | "/preferences") {
        if path != "/setup" && !state.store.has_accounts().await? {
            return Ok(Some(html::see_other("/setup")));
        }
        if !safe {
            let fields = read_fields(request).await?;
            request.extensions_mut().insert(fields);
        }
        return Ok(None);
    }
    if !state.store.has_accounts().await? {
        return Ok(Some(html::see_other("/setup")));
    }
    if !safe && path != "/logout" {
        let fields = read_fields(request).await?;
        let frame = Frame::of(request.request());
        return Ok(Some(login::ask_again(frame, path, &fields)));
    }
    let asked = request.uri().path_and_query().map_or("/", |it| it.as_str());
    let next: String = url::form_urlencoded::byte_serialize(asked.as_bytes()).collect();
    let to = match asked {
        "/" | "/logout" => "/login".to_owned(),
        _ => format!("/login?next={next}"),
    };
    Ok(Some(html::see_other(&to)))
}

/// No stored text has it, and PostgreSQL takes none that does.
const NUL: &str = "What was sent holds the character NUL";

/// Of a form that may be sent without a session.
const SMALL_FORM: usize = 16 << 10;
/// Of a form with a session. Room for a job's parameters (64 KiB), each byte of which may be written as three characters,
/// and for a text that is too long for them to come back with its error.
const FORM: usize = 1 << 20;

async fn read_fields(request: &mut ServiceRequest) -> Result<Fields, Problem> {
    let limit = match request.path() {
        // With a form that was filled in when the session ended. All bodies together have their bound too.
        "/login" if request.query_string() == "kept" => FORM,
        "/login" | "/setup" | "/preferences" => SMALL_FORM,
        _ => FORM,
    };
    let unreadable = |error: actix_web::Error| Problem::Bad(format!("What was sent cannot be read: {error}"));
    let payload = request.extract::<web::Payload>().await.map_err(unreadable)?;
    let body = match payload.to_bytes_limited(limit).await {
        Err(_too_large) => return Err(Problem::TooLarge(limit)),
        Ok(Err(error)) if pace::is_out_of_memory(&error) => return Err(Problem::Busy(pace::FULL)),
        Ok(body) => body.map_err(unreadable)?,
    };
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
    // Parameters are the one text of several lines; their handlers say beside the field what is wrong with them.
    let is_bad = |(name, value): &(String, String)| name != "params" && value.contains('\0');
    match fields.iter().any(is_bad) {
        true => Err(Problem::Bad(NUL.into())),
        false => Ok(Fields(fields)),
    }
}

fn finish(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let mut response = with_page(response);
    let html = is_html(response.response());
    let shown = html && response.status().is_success() && !response.request().headers().contains_key(LIVE);
    if shown && let Some(mut cookie) = response.request().cookie(FLASH) {
        cookie.set_path("/");
        cookie.make_removal();
        // A removal is plain ASCII, so this cannot fail.
        let _ = response.response_mut().add_cookie(&cookie);
    }
    let headers = response.headers_mut();
    for (name, value) in POLICY {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// A bare error becomes a page of ours.
fn with_page(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || is_html(response.response()) {
        return response;
    }
    let frame = Frame::of(response.request());
    let id = frame.request_id.clone();
    let problem = response.response().error().and_then(|error| error.as_error::<Problem>());
    let mut page = problem::page(frame, status, problem);
    if let (Ok(name), Ok(value)) = (HeaderName::try_from("x-request-id"), HeaderValue::try_from(id)) {
        page.headers_mut().insert(name, value);
    }
    response.into_response(page)
}

fn is_html(response: &HttpResponse) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"))
}

/// No script or style but from our own files, no frame around us, no address given to others.
const POLICY: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: then browsers would send forms with `Origin: null`.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
];
