//! `registry` and `registryRemove`: an executor registers with each heartbeat, and deregisters when it stops.

use actix_web::{HttpRequest, HttpResponse};
use carillon_engine::manage::NotAdmitted;
use carillon_protocol::{self as wire, Answer, headers, normal_address};
use carillon_scheduler::route::check_weight;
use carillon_scheduler::{Labels, validate_app_name};
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::run::mark::HTTP_REQUEST;

use super::answer::{answered, header, id, refused};
use super::audit::{record_denial_for, sender};
use super::authenticated_body::AuthenticatedBody;
use super::refusals::RefusalReason;
use super::token::note_refusal;
use crate::web::access::denial;
use crate::web::guard::client_address::client_address;
use crate::web::state::{Shared, State};

/// The longest app name that its column takes.
const APP_CHARS: usize = 64;

pub async fn register(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    if let Err(message) = count(&request, &body, &state).await {
        return refused(message);
    }
    match registration(&request, &body, &state).await {
        Err(message) => refused(message),
        Ok(executor) => match state.engine.executors().heartbeat(&executor).await {
            Ok(is_new) => {
                if is_new {
                    tracing::info!(
                        app.name = executor.app,
                        executor.address = executor.address,
                        "an executor registered"
                    );
                }
                if let Some(source) = client_address(&request) {
                    state.refused_executors.forget(source, &executor.app, state.clock.now());
                }
                answered(&accepted(&request, &executor, is_new, &state).await)
            }
            // The database works, and the next heartbeat would be refused as well.
            Err(error) if error.is_bad_value() => {
                tracing::warn!(%error, executor.address = executor.address, "a registration was refused by the database");
                refused("the registration holds a value that the database does not take")
            }
            Err(error) => {
                tracing::warn!(%error, executor.address = executor.address, "a registration could not be stored");
                refused("the registration could not be stored; it is taken again with the next heartbeat")
            }
        },
    }
}

/// Asks for the declared jobs of the program if they are not known.
async fn accepted(request: &HttpRequest, executor: &Executor, is_new: bool, state: &State) -> Answer {
    let digest = digest(request);
    match state.declarations.heartbeat(&executor.app, &executor.address, digest, is_new).await {
        Ok(true) => Answer::ok_with(wire::ASKS_FOR_DECLARATION),
        Ok(false) => Answer::ok(),
        // The registration is stored, and the next heartbeat announces it again.
        Err(error) => {
            tracing::debug!(%error, executor.address = executor.address, "what an executor declares could not be noted");
            Answer::ok()
        }
    }
}

async fn registration(request: &HttpRequest, body: &AuthenticatedBody, state: &State) -> Result<Executor, String> {
    let registration = named(request, body, state).await?;
    let (app, address) = (&registration.key, &registration.value);
    state.engine.executors().admit(app, address).await.map_err(|refusal| match refusal {
        NotAdmitted::Address(what) => {
            format!("registryValue {address:?}: {what}; it must be http(s)://host:port, with at most a plain path")
        }
        NotAdmitted::TooMany(what) => what,
    })?;
    let boot_id = boot_id(request);
    let settings = &state.engine.cx.settings;
    let lease = if boot_id.is_some() { settings.own_lease } else { settings.stock_lease };
    let now = state.clock.now();
    Ok(Executor {
        app: registration.key,
        address: registration.value,
        capabilities: header(request, headers::CAPABILITIES).map(|list| list.chars().take(255).collect()),
        journal_id: id(request, headers::JOURNAL_ID),
        boot_id,
        token_id: body.credential.token_id(),
        registered_at: now,
        seen_at: now,
        expires_at: now + lease.as_millis() as i64,
        announced: traits(request)?,
        set: ExecutorSettings::default(),
        manual_since: None,
        draining_since: None,
    })
}

/// The digest that a heartbeat announces, if it can be one.
fn digest(request: &HttpRequest) -> Option<&str> {
    let is_digest = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    header(request, headers::DECLARED).filter(is_digest)
}

/// Counts a registration with the token of the request.
pub(super) async fn count(request: &HttpRequest, body: &AuthenticatedBody, state: &State) -> Result<(), String> {
    let counted = state.registrations.take(body.credential.token_id(), state.clock.monotonic());
    let Err(seconds) = counted else { return Ok(()) };
    state.engine.cx.metrics.rate_limited.inc();
    denial::record_limit(request, state, &sender(request), body.credential.object()).await;
    let rate = state.config.registration_rate;
    Err(format!(
        "more than {rate} registrations a second with this token (--registration-rate); try again in {seconds} s"
    ))
}

/// The start of an executor with Carillon's SDK.
pub(super) fn boot_id(request: &HttpRequest) -> Option<String> {
    id(request, headers::BOOT_ID).filter(|id| id != HTTP_REQUEST)
}

/// A registration that the sender may make or end. Under a former name of an app it is one of that app.
async fn named(request: &HttpRequest, body: &AuthenticatedBody, state: &State) -> Result<wire::Registration, String> {
    let mut registration = wire::parse_registration(&body.bytes)?;
    registration.key = state.engine.apps().current_name(&registration.key);
    registration.value = normal_address(&registration.value);
    let name = &registration.key;
    if name.chars().count() > APP_CHARS {
        return Err(format!("registryKey (the app name) is longer than {APP_CHARS} characters"));
    }
    if name.chars().any(char::is_control) {
        return Err("registryKey (the app name) has control characters".into());
    }
    // Databases that compare without blanks at the end would find the app of another name than the one that is compared here.
    validate_app_name(name).map_err(|what| format!("registryKey (the app name): {what}"))?;
    if !body.credential.allows(name) {
        note_refusal(request, state, RefusalReason::NotOfApp, Some(name));
        record_denial_for(request, state, &body.credential, "the token does not count for this app", name).await;
        return Err(format!("registryKey: the access token is not one of the app {name}"));
    }
    let is_signed = body.credential.is_signed;
    if !is_signed && state.engine.executor_tokens().must_be_signed(name, &registration.value, state.clock.now()) {
        record_denial_for(request, state, &body.credential, "not signed", name).await;
        return Err("the executor at this address signs its requests; this one is not signed".into());
    }
    Ok(registration)
}

/// The settings that an executor with Carillon's SDK announces beside its address.
fn traits(request: &HttpRequest) -> Result<ExecutorSettings, String> {
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
    Ok(ExecutorSettings { weight: weight.map(u32::cast_signed), labels: labels.map(|labels| labels.to_string()) })
}

pub async fn deregister(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    if let Err(message) = count(&request, &body, &state).await {
        return refused(message);
    }
    let registration = match named(&request, &body, &state).await {
        Ok(registration) => registration,
        Err(message) => return refused(message),
    };
    if !registration.value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refused("registryValue has blanks or control characters, so it never was registered");
    }
    // An executor that has restarted is not ended by a request of its previous start, which may come late or be a replay.
    let boot_id = boot_id(&request);
    match state.engine.executors().deregister(&registration.key, &registration.value, boot_id.as_deref()).await {
        Ok(()) => {
            tracing::info!(
                app.name = registration.key,
                executor.address = registration.value,
                "an executor deregistered"
            );
            answered(&Answer::ok())
        }
        Err(error) => {
            tracing::warn!(%error, "a deregistration could not be stored");
            refused("the deregistration could not be stored")
        }
    }
}
