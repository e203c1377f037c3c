//! What every page is given: who looks at it, in which colours and zone, and how times and durations are written.

use actix_web::cookie::{Cookie, SameSite, time};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse, web};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use carillon_scheduler::Millis;
use chrono_tz::Tz;

use super::session::Viewer;
pub use super::words::duration;
use super::words::{from_now, relative, utc};
use super::{State, assets, csrf};

pub const THEME: &str = "carillon_theme";
pub const ZONE: &str = "carillon_zone";
pub const FLASH: &str = "carillon_flash";

/// A short message on the page that follows an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    /// `ok` or `failed`.
    pub kind: &'static str,
    pub text: String,
}

/// The frame around a page.
#[derive(Clone, Debug)]
pub struct Frame {
    pub viewer: Option<Viewer>,
    /// What the forms of this answer carry.
    pub csrf: String,
    /// `system`, `light` or `dark`.
    pub theme: &'static str,
    pub zone: Tz,
    pub now: Millis,
    pub flash: Option<Flash>,
    /// Redis is set and cannot be reached from this node.
    pub degraded: bool,
    /// The address asked for, with its query: preferences lead back to it.
    pub here: String,
    pub request_id: String,
}

/// Marks each answer and its log lines.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

impl Frame {
    pub fn of(request: &HttpRequest) -> Self {
        let viewer = request.extensions().get::<Viewer>().cloned();
        let now = request.app_data::<web::Data<State>>().map_or(0, |state| state.clock.now());
        let here = request.uri().path_and_query();
        let degraded = request.app_data::<web::Data<State>>().is_some_and(|state| state.pipeline.is_degraded());
        Self {
            degraded: degraded && viewer.is_some(),
            csrf: viewer.as_ref().map_or_else(String::new, |v| csrf::masked(&v.csrf)),
            viewer,
            theme: theme(request.cookie(THEME).as_ref().map_or("", |c| c.value())),
            zone: zone(request),
            now,
            flash: flash(request),
            here: here.map_or_else(|| "/".to_owned(), ToString::to_string),
            request_id: request.extensions().get::<RequestId>().map_or_else(String::new, |id| id.0.clone()),
        }
    }

    pub fn asset(&self, name: &str) -> String {
        assets::url(name)
    }

    /// Is the page below this address? For the mark in the side bar.
    pub fn is_in(&self, section: &str) -> bool {
        let path = self.here.split('?').next().unwrap_or("");
        path == section || (section != "/" && path.strip_prefix(section).is_some_and(|rest| rest.starts_with('/')))
    }

    /// For `datetime` attributes.
    pub fn iso(&self, at: &Millis) -> String {
        utc(*at).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// In full, in the viewer's zone: `2026-11-21 09:56:12 CET`.
    pub fn full(&self, at: &Millis) -> String {
        let time = utc(*at).with_timezone(&self.zone);
        time.format("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// The time of day alone, for a chart.
    pub fn clock(&self, at: &Millis) -> String {
        let time = utc(*at).with_timezone(&self.zone);
        time.format("%H:%M:%S").to_string()
    }

    /// With milliseconds, for the story of a run.
    pub fn exact(&self, at: &Millis) -> String {
        let time = utc(*at).with_timezone(&self.zone);
        time.format("%Y-%m-%d %H:%M:%S%.3f").to_string()
    }

    /// `in 3 min`, `2 h ago`; a date when it is more than a day away.
    pub fn relative(&self, at: &Millis) -> String {
        relative(*at, self.now).unwrap_or_else(|| {
            let time = utc(*at).with_timezone(&self.zone);
            time.format("%Y-%m-%d %H:%M").to_string()
        })
    }

    /// How far ahead or back, in days where it is more than one.
    pub fn away(&self, at: &Millis) -> String {
        from_now(*at, self.now)
    }

    pub fn zone_name(&self) -> &'static str {
        self.zone.name()
    }
}

impl FromRequest for Frame {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Ok(Self::of(request)))
    }
}

/// The themes that there are; anything else is the system's.
pub fn theme(text: &str) -> &'static str {
    match text {
        "light" => "light",
        "dark" => "dark",
        _ => "system",
    }
}

fn zone(request: &HttpRequest) -> Tz {
    request.cookie(ZONE).and_then(|cookie| cookie.value().parse().ok()).unwrap_or(Tz::UTC)
}

fn flash(request: &HttpRequest) -> Option<Flash> {
    let cookie = request.cookie(FLASH)?;
    let (kind, text) = cookie.value().split_once('.')?;
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    Some(Flash { kind: if kind == "ok" { "ok" } else { "failed" }, text })
}

/// A year-long choice of the browser's owner; holds nothing secret.
pub fn preference(name: &'static str, value: String) -> Cookie<'static> {
    Cookie::build(name, value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .max_age(time::Duration::days(365))
        .finish()
}

/// A page as an answer.
pub fn page(template: &impl Template, status: StatusCode) -> HttpResponse {
    match template.render() {
        Ok(text) => HttpResponse::build(status).content_type("text/html; charset=utf-8").body(text),
        Err(error) => {
            tracing::error!("a page cannot be written: {error}");
            HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// After a POST: the page to look at next.
pub fn see_other(to: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, to)).finish()
}

/// The same with a message.
pub fn see_other_with(to: &str, kind: &'static str, text: &str) -> HttpResponse {
    let text: String = text.chars().take(500).collect();
    let value = format!("{kind}.{}", URL_SAFE_NO_PAD.encode(text));
    let cookie = Cookie::build(FLASH, value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .max_age(time::Duration::minutes(1))
        .finish();
    let mut response = see_other(to);
    // The value is plain ASCII, so this cannot fail.
    let _ = response.add_cookie(&cookie);
    response
}

/// An address within the console, or its start page: what a request names must not lead anywhere else.
pub fn local_address(text: &str) -> &str {
    let clean = text.starts_with('/')
        && !text.starts_with("//")
        && !text.contains('\\')
        && text.chars().all(|c| !c.is_control());
    if clean { text } else { "/" }
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
