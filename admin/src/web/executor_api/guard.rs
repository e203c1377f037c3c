//! What a listener does with each request before it looks for its path.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::ACCEPT_ENCODING;
use actix_web::middleware::Next;

use super::answer::refused;
use super::paths::{NAMES, PREFIXES, is_path};
use super::refusals::RefusalReason;
use super::token::note_refusal;
use crate::web::guard::path_prefix::set_path;
use crate::web::state::Shared;
use crate::web::xxl_console;

/// Executors write slashes as they like: a path with doubled or trailing ones is read as the one that it means, as xxl-job's
/// own admin does. A request of an executor to any other path is answered in the words of the protocol. Answers are too short
/// to be worth compressing.
pub async fn guard(
    state: Shared,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let plain = plain(request.path());
    if is_path(&plain) {
        request.headers_mut().remove(ACCEPT_ENCODING);
        if plain != request.path() {
            set_path(&mut request, &plain);
        }
    } else if state.config.xxl_console_api
        && let Some(path) = xxl_console::plain_path(&plain)
    {
        set_path(&mut request, path);
    } else if is_of_executor(&request, &plain) {
        note_refusal(request.request(), &state, RefusalReason::UnknownPath, None);
        let why = format!(
            "{plain} is no path of the executor protocol: executors post to /api/registry, /api/registryRemove and \
             /api/callback, or to the same below /xxl-job-admin"
        );
        return Ok(request.into_response(refused(why)).map_into_boxed_body());
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// Without doubled and trailing slashes.
fn plain(path: &str) -> String {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold(String::new(), |path, name| path + "/" + name)
}

/// Whether a path that nothing else has is meant for the protocol.
fn is_of_executor(request: &ServiceRequest, plain: &str) -> bool {
    let below = |prefix: &str| plain.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_below = below(PREFIXES[1]) || below("/api") && !below("/api/v1");
    let name = plain.rsplit('/').next().unwrap_or_default();
    *request.method() == Method::POST && (is_below || NAMES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_doubled_and_appended_at_will() {
        for path in ["//api/registry", "/xxl-job-admin//api/registry", "/xxl-job-admin/api/registry///"] {
            assert!(is_path(&plain(path)), "{path}");
        }
        for path in ["/api/registry/x", "/api/v1/jobs", "/other/api/registry", "/"] {
            assert!(!is_path(&plain(path)), "{path}");
        }
    }
}
