//! The body of a request whose token is right. The token is looked at before the body is read: memory is not spent on
//! clients that have none.

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use carillon_engine::executor::Credential;
use futures_util::future::LocalBoxFuture;

use super::answer::refused;
use super::{audit, token};
use crate::web::guard::connection;
use crate::web::limits::slow_body_guard;
use crate::web::state::Shared;

pub struct AuthenticatedBody {
    pub bytes: Bytes,
    pub credential: Credential,
}

impl FromRequest for AuthenticatedBody {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        Box::pin(authenticated(request.clone(), payload.take()))
    }
}

async fn authenticated(request: HttpRequest, mut payload: Payload) -> Result<AuthenticatedBody, actix_web::Error> {
    let state = request.app_data::<Shared>().cloned().ok_or_else(|| refusal(String::new()))?;
    let (credential, signature) = token::check(&request, &state).await.map_err(refusal)?;
    if slow_body_guard::is_encoded(request.headers()) {
        return Err(refusal(slow_body_guard::ENCODED.to_owned()));
    }
    let body = Bytes::from_request(&request, &mut payload).await;
    let bytes = body.map_err(|error| unread(&request, error))?;
    let is_signed = signature.map_or(Ok(()), |signature| signature.check_body(&bytes));
    is_signed.map_err(|problem| refusal(problem.to_string()))?;
    audit::note_use(&request, &state, &credential).await;
    Ok(AuthenticatedBody { bytes, credential })
}

/// A body that is too long never becomes shorter, so its client gets a refusal. Anything else may be better the next time:
/// as with results that cannot be stored, the connection is cut, and the client repeats.
fn unread(request: &HttpRequest, error: actix_web::Error) -> actix_web::Error {
    if matches!(error.as_error(), Some(PayloadError::Overflow)) {
        return refusal("the body is longer than this path takes".to_owned());
    }
    connection::cut(request);
    let response = HttpResponse::ServiceUnavailable().finish();
    actix_web::error::InternalError::from_response(error, response).into()
}

fn refusal(message: String) -> actix_web::Error {
    let response = refused(message.clone());
    actix_web::error::InternalError::from_response(message, response).into()
}
