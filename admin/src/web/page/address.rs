//! The address under which the console is reached, for the links that it shows.

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, ORIGIN};

use crate::web::state::State;

/// `https://host`, without a slash at the end: the setting, or what the browser says.
pub fn console_address(state: &State, request: &HttpRequest) -> String {
    if let Some(public) = &state.config.public_url {
        return public.address();
    }
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    // Only the browser knows of a proxy that speaks TLS; it sends this header with forms.
    match text(ORIGIN).filter(|origin| origin.starts_with("http")) {
        Some(origin) => origin.to_owned(),
        None => format!("http://{}", text(HOST).unwrap_or("localhost:8080")),
    }
}
