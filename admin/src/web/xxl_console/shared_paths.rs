//! `POST /login` and `POST /logout` are paths of both consoles. A sign-in of xxl-job has the parameter `userName`, which ours has not; a
//! sign-out has its cookie and not ours.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use actix_web::{HttpResponse, web};

use super::parameters::Parameters;
use super::session_cookie::OLD_COOKIE;
use crate::web::guard::path_prefix::set_path;
use crate::web::guard::session_cookie;
use crate::web::limits::SMALL_FORM;
use crate::web::state::Shared;

/// Where the two are mounted.
pub const LOGIN: &str = "/xxl-job/login";
pub const LOGOUT: &str = "/xxl-job/logout";

/// Middleware, before the router looks at the path.
pub async fn divert(
    state: Shared,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    if state.config.xxl_console_api && request.method() == Method::POST {
        match request.path() {
            "/login" => match names_user(&mut request).await {
                Ok(true) => set_path(&mut request, LOGIN),
                Ok(false) => {}
                Err(answer) => return Ok(request.into_response(answer)),
            },
            "/logout" => {
                let is_script = request.cookie(OLD_COOKIE).is_some();
                if is_script && session_cookie::session_id(request.request()).is_none() {
                    set_path(&mut request, LOGOUT);
                }
            }
            _ => {}
        }
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// Reads the form, and puts it back.
async fn names_user(request: &mut ServiceRequest) -> Result<bool, HttpResponse> {
    let unreadable = |error: actix_web::Error| HttpResponse::from_error(error);
    let body = request.extract::<web::Payload>().await.map_err(unreadable)?.to_bytes_limited(SMALL_FORM).await;
    let too_large = |_| HttpResponse::PayloadTooLarge().body("the form has more than 16 KiB\n");
    let body = body.map_err(too_large)?.map_err(unreadable)?;
    let is_script = Parameters::read(request.query_string(), &body).has("userName");
    request.set_payload(Payload::from(body));
    Ok(is_script)
}
