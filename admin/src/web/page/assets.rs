//! Style sheet, script and icons of the console, compiled into the program. Their addresses contain a hash of the content, so
//! browsers may cache them without limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use actix_web::{HttpRequest, HttpResponse, web};
use rust_embed::{EmbeddedFile, RustEmbed};

#[derive(RustEmbed)]
#[folder = "../static/"]
struct Files;

/// First digits of each file's hash.
static VERSIONS: LazyLock<HashMap<String, String>> =
    LazyLock::new(|| Files::iter().filter_map(|name| Some((name.to_string(), version(&Files::get(&name)?)))).collect());

fn version(file: &EmbeddedFile) -> String {
    let hash = file.metadata.sha256_hash();
    hash[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The address of an asset, for templates.
pub fn url(name: &str) -> String {
    match VERSIONS.get(name) {
        Some(version) => format!("/assets/{name}?v={version}"),
        None => format!("/assets/{name}"),
    }
}

/// `GET /assets/{name}`
pub async fn asset(request: HttpRequest, name: web::Path<String>) -> HttpResponse {
    let Some(file) = Files::get(&name) else {
        return HttpResponse::NotFound().finish();
    };
    let tag = format!("\"{}\"", version(&file));
    let known = request.headers().get(IF_NONE_MATCH);
    let asked_for_version = !request.query_string().is_empty();
    let caching = if asked_for_version { "public, max-age=31536000, immutable" } else { "no-cache" };
    if known.is_some_and(|value| value.as_bytes() == tag.as_bytes()) {
        return HttpResponse::NotModified().insert_header((CACHE_CONTROL, caching)).insert_header((ETAG, tag)).finish();
    }
    let body = match file.data {
        Cow::Borrowed(bytes) => web::Bytes::from_static(bytes),
        Cow::Owned(bytes) => web::Bytes::from(bytes),
    };
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, caching))
        .insert_header((ETAG, tag))
        .content_type(content_type(&name))
        .body(body)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
