//! Pages and redirects as answers.

use actix_web::HttpResponse;
use actix_web::cookie::{Cookie, SameSite, time};
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue, LOCATION};
use askama::Template;

/// A cookie with a preference, kept for a year.
pub fn preference(name: &'static str, value: String) -> Cookie<'static> {
    Cookie::build(name, value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .max_age(time::Duration::days(365))
        .finish()
}

/// A page as an answer.
pub fn render(template: &impl Template, status: StatusCode) -> HttpResponse {
    match template.render() {
        Ok(text) => HttpResponse::build(status).content_type("text/html; charset=utf-8").body(text),
        Err(error) => {
            tracing::error!("a page cannot be written: {error}");
            HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// A page as the answer to a request that succeeded.
pub fn show(template: &impl Template) -> HttpResponse {
    render(template, StatusCode::OK)
}

/// Something that is shown once must not come back from a cache.
pub fn uncached(mut answer: HttpResponse) -> HttpResponse {
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// After a POST: the page to look at next.
pub fn redirect(to: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, to)).finish()
}

/// An address within the console, or its start page: what a request names must not lead anywhere else.
pub fn local_address(text: &str) -> &str {
    let clean = text.starts_with('/')
        && !text.starts_with("//")
        && !text.contains('\\')
        && text.chars().all(|c| !c.is_control());
    if clean { text } else { "/" }
}

/// The address of a list: its filters that are not empty, and the item that it begins after.
pub fn list_address(path: &str, filters: &[(&str, &str)], after: Option<i64>) -> String {
    let after = after.map_or_else(String::new, |after| after.to_string());
    let pairs = filters.iter().copied().chain([("after", after.as_str())]).filter(|(_, value)| !value.is_empty());
    format!("{path}?{}", url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_in_the_console() {
        for fine in ["/", "/jobs?text=a%20b", "/runs/7#log"] {
            assert_eq!(local_address(fine), fine);
        }
        for wrong in ["", "//evil.example", "https://evil.example", "/\\evil.example", "jobs", "/a\r\nb"] {
            assert_eq!(local_address(wrong), "/");
        }
    }
}
