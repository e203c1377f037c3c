//! Requests that were refused, in the audit.

use actix_web::{HttpMessage as _, HttpRequest, web};
use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use carillon_store::audit::denials::Denied;
use carillon_store::{Actor, AuditObject, Store};
use serde_json::{Value, json};

use crate::web::state::State;

/// What was refused: the object, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Refused(pub AuditObject);

impl Default for Refused {
    fn default() -> Self {
        Self(AuditObject::new(AuditObjectKind::Path, 0))
    }
}

/// Records that a request of a known actor was refused.
pub async fn record(request: &HttpRequest, refused: Refused) {
    if let Some(entry) = entry(request, refused) {
        entry.write().await;
    }
}

/// The same without waiting for it: where the answer must not say that the object exists, neither may the time that it takes.
pub fn record_hidden(request: &HttpRequest, refused: Refused) {
    if let Some(entry) = entry(request, refused) {
        actix_web::rt::spawn(entry.write());
    }
}

/// The same of what a handler did not do, with the ids where there are several. One row, however many they are.
pub fn record_denied(request: &HttpRequest, denied: Denied) {
    let Denied { object, count, ids } = denied;
    if let Some(mut entry) = entry(request, Refused(object)) {
        if count > 1 {
            entry.detail["refused"] = count.into();
            entry.detail["ids"] = ids.into();
        }
        actix_web::rt::spawn(entry.write());
    }
}

/// Records that a token is not, or no longer, valid.
pub async fn record_token(
    request: &HttpRequest,
    store: &Store,
    sender: &Actor,
    now: Millis,
) -> carillon_store::Result<()> {
    let object = Refused::default().0;
    store.audit().record_refusal(sender, AuditAction::Deny, object, detail(request, "not a valid token"), now).await
}

/// Records that an actor has reached its limit of requests. The first of a minute gets a row.
pub async fn record_limit(request: &HttpRequest, state: &State, actor: &Actor, object: AuditObject) {
    record_of(state, actor, AuditAction::Limit, object, detail(request, "too many requests")).await;
}

/// Records that an actor was refused before the policy was asked, and why.
pub async fn record_early(request: &HttpRequest, state: &State, actor: &Actor, object: AuditObject, reason: &str) {
    record_of(state, actor, AuditAction::Deny, object, detail(request, reason)).await;
}

/// The same of an executor that asked for an app.
pub async fn record_for_app(
    request: &HttpRequest,
    state: &State,
    (actor, object): (&Actor, AuditObject),
    reason: &str,
    app: &str,
) {
    let mut detail = detail(request, reason);
    detail["app"] = app.into();
    record_of(state, actor, AuditAction::Deny, object, detail).await;
}

async fn record_of(state: &State, actor: &Actor, action: AuditAction, object: AuditObject, detail: Value) {
    if let Err(error) = state.store.audit().record_refusal(actor, action, object, detail, state.clock.now()).await {
        tracing::warn!(%error, "a refused request could not be recorded in the audit");
    }
}

struct Denial {
    state: web::Data<State>,
    actor: Actor,
    object: AuditObject,
    detail: Value,
}

fn entry(request: &HttpRequest, refused: Refused) -> Option<Denial> {
    let state = request.app_data::<web::Data<State>>()?.clone();
    let actor = request.extensions().get::<Actor>()?.clone();
    Some(Denial { state, actor, object: refused.0, detail: detail(request, "not allowed") })
}

impl Denial {
    async fn write(self) {
        let Self { state, actor, object, detail } = self;
        record_of(&state, &actor, AuditAction::Deny, object, detail).await;
    }
}

fn detail(request: &HttpRequest, reason: &str) -> Value {
    let path: String = request.path().chars().take(200).collect();
    json!({"method": request.method().as_str(), "path": path, "reason": reason})
}
