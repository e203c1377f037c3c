//! What requests of executors leave in the audit: the first use of a token from a network, and what was refused.

use std::time::Duration;

use actix_web::HttpRequest;
use carillon_engine::executor::Credential;
use carillon_store::{Actor, Grants};

use crate::web::access::denial::{self, Refused};
use crate::web::guard::client_address::client_text;
use crate::web::state::{Shared, State};

/// A request is served after this time, whether its use of a token is written or not.
const NOTED_WITHIN: Duration = Duration::from_secs(1);
/// The same of results, which must be stored within 3 s in all.
const NOTED_BEFORE_RESULTS: Duration = Duration::from_millis(200);

/// An executor in the audit: nothing but its address is certain.
pub fn sender(request: &HttpRequest) -> Actor {
    Actor::new("executor", client_text(request), Grants::default())
}

/// Notes that a token is used, before anything is done with it: the first use from a network, and once a minute the last one. Nearly
/// every request finds both noted, and asks no database.
pub async fn note_use(request: &HttpRequest, state: &Shared, credential: &Credential) {
    let (now, by, token) = (state.clock.now(), sender(request), credential.object());
    let is_first = !state.store.people().knows_token_use(token, &by.source);
    let last = credential.token_id().filter(|id| state.engine.executor_tokens().notes_use(*id, now));
    if !is_first && last.is_none() {
        return;
    }
    let store = state.store.clone();
    let noting = actix_web::rt::spawn(async move {
        let mut noted = store.people().note_token_use(token, &by, now).await;
        if let Some(id) = last {
            noted = noted.and(store.apps().touch_executor_token(id, &by.source, now).await);
        }
        if let Err(error) = noted {
            tracing::warn!(%error, client.address = by.source, "the use of a token could not be stored");
        }
    });
    let within = if request.path().ends_with("/callback") { NOTED_BEFORE_RESULTS } else { NOTED_WITHIN };
    // It goes on where it takes longer.
    drop(actix_web::rt::time::timeout(within, noting).await);
}

/// Records that a request with a right token was denied.
pub async fn record_denial(request: &HttpRequest, state: &State, credential: &Credential, reason: &str) {
    denial::record_early(request, state, &sender(request), credential.object(), reason).await;
}

/// The same of a registration for an app.
pub async fn record_denial_for(request: &HttpRequest, state: &State, credential: &Credential, reason: &str, app: &str) {
    denial::record_for_app(request, state, (&sender(request), credential.object()), reason, app).await;
}

/// Records that a token is none.
pub async fn record_wrong_token(request: &HttpRequest, state: &State) {
    let (by, object) = (Actor::unknown(client_text(request)), Refused::default().0);
    denial::record_early(request, state, &by, object, "not a valid token").await;
}
