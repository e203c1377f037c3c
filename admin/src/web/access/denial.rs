//! Requests that were refused, in the audit.

use actix_web::{HttpMessage as _, HttpRequest, web};
use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
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

/// Records that a token is not, or no longer, valid.
pub async fn record_token(
    request: &HttpRequest,
    store: &Store,
    sender: &Actor,
    now: Millis,
) -> carillon_store::Result<()> {
    let object = Refused::default().0;
    store.record_refusal(sender, AuditAction::Deny, object, detail(request, "not a valid token"), now).await
}

/// Records that an actor has reached its limit of requests. The first of a minute gets a row.
pub async fn record_limit(request: &HttpRequest, state: &State, actor: &Actor, object: AuditObject) {
    let (now, detail) = (state.clock.now(), detail(request, "too many requests"));
    if let Err(error) = state.store.record_refusal(actor, AuditAction::Limit, object, detail, now).await {
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
        let now = state.clock.now();
        if let Err(error) = state.store.record_refusal(&actor, AuditAction::Deny, object, detail, now).await {
            tracing::warn!(%error, "a refused request could not be recorded in the audit");
        }
    }
}

fn detail(request: &HttpRequest, reason: &str) -> Value {
    let path: String = request.path().chars().take(200).collect();
    json!({"method": request.method().as_str(), "path": path, "reason": reason})
}
