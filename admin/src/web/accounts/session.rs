//! Sessions of the console: a cookie with a random id; the database holds its hash.

use actix_web::cookie::{Cookie, SameSite};
use actix_web::dev::Payload;
use actix_web::error::ErrorUnauthorized;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use sha2::{Digest, Sha256};

use crate::config::{is_secret, random_secret};
use crate::store::people::sessions::NewSession;
use crate::store::{Result, Store};

/// A session ends after this time without a request.
const IDLE_MS: i64 = 30 * 60_000;
/// A session ends this long after signing in, in any case.
const LONGEST_MS: i64 = 12 * 3_600_000;
/// The resolution of `seen_at`, which saves a write for most page views.
const SEEN_STEP_MS: i64 = 60_000;

const COOKIE: &str = "carillon_session";

/// A signed-in person.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub account_id: i64,
    pub name: String,
    pub role: String,
    /// The form token of this session.
    pub csrf: String,
    id_hash: String,
}

impl FromRequest for Viewer {
    type Error = actix_web::Error;
    type Future = std::future::Ready<std::result::Result<Self, Self::Error>>;

    /// The guard puts it there for every page that needs a session.
    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let viewer = request.extensions().get::<Self>().cloned();
        std::future::ready(viewer.ok_or_else(|| ErrorUnauthorized("signed out")))
    }
}

/// The person whose session the request's cookie names. `active`: the person did something, it is no mere refresh.
pub async fn viewer(store: &Store, request: &HttpRequest, now: i64, active: bool) -> Result<Option<Viewer>> {
    let Some(cookie) = request.cookie(COOKIE) else {
        return Ok(None);
    };
    // No query for a value that no session can have.
    if !is_secret(cookie.value()) {
        return Ok(None);
    }
    let id_hash = hash(cookie.value());
    let Some(session) = store.session(&id_hash, now, IDLE_MS).await? else {
        return Ok(None);
    };
    if active && now - session.seen_at >= SEEN_STEP_MS {
        store.touch_session(&id_hash, now).await?;
    }
    Ok(Some(Viewer {
        account_id: session.account_id,
        name: session.account,
        role: session.role,
        csrf: session.csrf,
        id_hash,
    }))
}

/// Opens a session under a new id and ends the one that the browser had. Returns its cookie and its form token.
pub async fn open(
    store: &Store,
    request: &HttpRequest,
    account_id: i64,
    now: i64,
) -> Result<(Cookie<'static>, String)> {
    if let Some(old) = request.cookie(COOKIE) {
        store.close_session(&hash(old.value())).await?;
    }
    let (id, csrf) = (random_secret(), random_secret());
    let new = NewSession { id_hash: &hash(&id), account_id, csrf: &csrf, now, expires_at: now + LONGEST_MS };
    store.open_session(&new, IDLE_MS).await?;
    Ok((cookie(id), csrf))
}

/// Ends the viewer's session. Returns the cookie that removes theirs.
pub async fn close(store: &Store, viewer: &Viewer) -> Result<Cookie<'static>> {
    store.close_session(&viewer.id_hash).await?;
    let mut cookie = cookie(String::new());
    cookie.make_removal();
    Ok(cookie)
}

/// Ends with the browser; contains nothing about its owner. The node speaks plain HTTP: under TLS of its own the
/// name gets the prefix `__Host-` and the cookie the attribute Secure.
fn cookie(id: String) -> Cookie<'static> {
    Cookie::build(COOKIE, id).path("/").http_only(true).same_site(SameSite::Lax).finish()
}

/// 256 bits of randomness need no slow hash.
pub fn hash(id: &str) -> String {
    Sha256::digest(id.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
