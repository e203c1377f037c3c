//! The executor protocol: registration and callbacks, as xxl-job's executors speak it.
//!
//! Each answer has HTTP status 200, and its verdict in the body. The token is checked before the body is read. A callback is answered when its results are
//! committed; if they cannot be, the connection is cut, because an error answer makes some clients report a success as a
//! failure, and others drop the result.

mod address;
mod connection;
mod token;
mod trusted;
mod wrong_tokens;

use std::time::Duration;

use actix_web::http::header::ContentType;
use actix_web::{HttpRequest, HttpResponse, Resource, web};
use carillon_protocol::{self as wire, Answer, CallbackItem, headers};
use carillon_scheduler::route::check_weight;
use carillon_scheduler::{Labels, Outcome, RunEvent};

use crate::store::executor::{Executor, Traits};
use crate::store::settle::{Finding, printable};
use crate::web::State;

use self::trusted::Trusted;

pub use connection::{Connection, remember as remember_connection};
pub use wrong_tokens::{WrongToken, WrongTokens};

/// A registration is small; a Java executor's callback of 50 results is not.
const SMALL_BODY: usize = 16 << 10;
const CALLBACK_BODY: usize = 8 << 20;

/// Java gives up after 3 s: by then the connection must be cut.
const STORE_WITHIN: Duration = Duration::from_millis(2500);

/// Each resource is served below each of these.
const PREFIXES: [&str; 2] = ["", "/xxl-job-admin"];
/// The longest app name: its column has no more room.
const APP_CHARS: usize = 64;

/// Whether a path is one of these resources.
pub fn is_path(path: &str) -> bool {
    let below = |prefix: &&str| path.strip_prefix(*prefix)?.strip_prefix("/api/");
    let name = PREFIXES.iter().rev().find_map(below);
    matches!(name, Some("registry" | "registryRemove" | "callback"))
}

/// The three resources, under each of the prefixes.
pub fn configure(config: &mut web::ServiceConfig) {
    for prefix in PREFIXES {
        config
            .service(resource(prefix, "registry", SMALL_BODY).route(web::post().to(register)))
            .service(resource(prefix, "registryRemove", SMALL_BODY).route(web::post().to(deregister)))
            .service(resource(prefix, "callback", CALLBACK_BODY).route(web::post().to(callback)));
    }
}

fn resource(prefix: &str, name: &str, limit: usize) -> Resource {
    web::resource(format!("{prefix}/api/{name}"))
        .app_data(web::PayloadConfig::new(limit))
        .default_service(web::to(async || refused("invalid request, HttpMethod not support.")))
}

fn answered(answer: &Answer) -> HttpResponse {
    // `ContentType::json()` exactly: one client refuses any other.
    HttpResponse::Ok().insert_header(ContentType::json()).body(serde_json::to_vec(answer).unwrap_or_default())
}

fn refused(message: impl Into<String>) -> HttpResponse {
    answered(&Answer::fail(message))
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
}

async fn register(request: HttpRequest, body: Trusted, state: web::Data<State>) -> HttpResponse {
    match registration(&request, &body.0, &state) {
        Err(message) => refused(message),
        Ok(executor) => match state.store.register_executor(&executor).await {
            Ok(changed) => {
                if changed {
                    tracing::info!(app = executor.app, executor.address = executor.address, "an executor registered");
                    state.pipeline.executors_changed();
                    if let Some(boot_id) = executor.boot_id {
                        state.pipeline.executor_restarted(executor.address, boot_id);
                    }
                }
                if let Some(peer) = request.peer_addr() {
                    state.wrong_tokens.forget(peer.ip(), &executor.app);
                }
                answered(&Answer::ok())
            }
            // The database is well, and the next heartbeat would fare no better.
            Err(error) if error.is_bad_value() => {
                tracing::warn!(%error, executor.address = executor.address, "a registration was refused by the database");
                refused("the registration holds a value that the database does not take")
            }
            Err(error) => {
                state.pipeline.heartbeat_not_stored();
                tracing::warn!(%error, executor.address = executor.address, "a registration could not be stored");
                refused("the registration could not be stored; it is taken again with the next heartbeat")
            }
        },
    }
}

fn registration(request: &HttpRequest, body: &[u8], state: &State) -> Result<Executor, String> {
    let registration = named(body)?;
    address::check(&registration.value, state.config.executors_at().ip().is_loopback())?;
    let boot_id = header(request, headers::BOOT_ID).map(|id| id.chars().take(64).collect::<String>());
    let settings = &state.pipeline.settings;
    let lease = if boot_id.is_some() { settings.own_lease } else { settings.stock_lease };
    let now = state.clock.now();
    Ok(Executor {
        app: registration.key,
        address: registration.value,
        capabilities: header(request, headers::CAPABILITIES).map(|list| list.chars().take(255).collect()),
        journal_id: header(request, headers::JOURNAL_ID).map(|id| id.chars().take(64).collect()),
        boot_id,
        registered_at: now,
        seen_at: now,
        expires_at: now + lease.as_millis() as i64,
        announced: traits(request)?,
        set: Traits::default(),
    })
}

/// A registration whose app name can be stored and shown. Which characters the name of an app may have is a stricter rule:
/// an executor under another name is shown as one whose app does not exist.
fn named(body: &[u8]) -> Result<wire::Registration, String> {
    let registration = wire::parse_registration(body)?;
    let name = &registration.key;
    if name.chars().count() > APP_CHARS {
        return Err(format!("registryKey (the app name) is longer than {APP_CHARS} characters"));
    }
    if name.chars().any(char::is_control) {
        return Err("registryKey (the app name) has control characters".into());
    }
    Ok(registration)
}

/// What an own executor says of itself beside its address.
fn traits(request: &HttpRequest) -> Result<Traits, String> {
    let wrong = |name: &str, message: &dyn std::fmt::Display| format!("{name}: {message}");
    let weight = header(request, headers::WEIGHT)
        .map(|text| match text.parse() {
            Ok(weight) => check_weight(weight),
            Err(_) => Err(format!("{text:?} is not a whole number")),
        })
        .transpose()
        .map_err(|message| wrong(headers::WEIGHT, &message))?;
    let labels = header(request, headers::LABELS)
        .map(str::parse::<Labels>)
        .transpose()
        .map_err(|message| wrong(headers::LABELS, &message))?;
    Ok(Traits { weight: weight.map(u32::cast_signed), labels: labels.map(|labels| labels.to_string()) })
}

async fn deregister(body: Trusted, state: web::Data<State>) -> HttpResponse {
    let registration = match named(&body.0) {
        Ok(registration) => registration,
        Err(message) => return refused(message),
    };
    if !registration.value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refused("registryValue has blanks or control characters, so it never was registered");
    }
    match state.store.deregister_executor(&registration.key, &registration.value).await {
        Ok(_) => {
            tracing::info!(app = registration.key, executor.address = registration.value, "an executor deregistered");
            state.pipeline.executors_changed();
            answered(&Answer::ok())
        }
        Err(error) => {
            tracing::warn!(%error, "a deregistration could not be stored");
            refused("the deregistration could not be stored")
        }
    }
}

async fn callback(request: HttpRequest, body: Trusted, state: web::Data<State>) -> HttpResponse {
    let findings: Vec<Finding> = match wire::parse_callbacks(&body.0) {
        Ok(items) => {
            let is_own = header(&request, headers::BOOT_ID).is_some();
            items.into_iter().map(|item| finding(item, is_own)).collect()
        }
        Err(message) => return refused(message),
    };
    if findings.is_empty() {
        return answered(&Answer::ok());
    }
    match actix_web::rt::time::timeout(STORE_WITHIN, state.pipeline.report(findings)).await {
        Ok(Ok(())) => answered(&Answer::ok()),
        _ => {
            connection::cut(&request);
            HttpResponse::ServiceUnavailable().finish()
        }
    }
}

/// Identified by the run's id alone: several clients put their own clock into the time.
fn finding(item: CallbackItem, is_own: bool) -> Finding {
    let text = item.message.as_deref().unwrap_or_default();
    let (outcome, reason) = match item.code {
        wire::SUCCESS => (Outcome::Succeeded, None),
        wire::TIMEOUT => (Outcome::Failed, Some("timeout")),
        _ if is_own && text.starts_with("interrupted:") => (Outcome::Failed, Some("interrupted")),
        _ => (Outcome::Failed, Some("result")),
    };
    Finding {
        run_id: item.log_id,
        event: RunEvent::Reported(outcome),
        code: Some(item.code),
        // Cut before it waits to be written.
        message: item.message.as_deref().map(printable),
        reason,
        sent_at: None,
    }
}
