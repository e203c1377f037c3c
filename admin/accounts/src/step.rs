//! A sign-in that has begun and waits for its next step. It belongs to one browser: a cookie holds one half of its name, the form or
//! the address that comes back the other.

use carillon_scheduler::Millis;
use carillon_store::people::sign_in_steps::{NewStep, StepKind};
use carillon_store::{Result, Store};

use crate::secret::{hash, is_secret};

/// The two halves that name a step.
pub struct StepKey<'a> {
    /// The secret in the browser's cookie.
    pub browser: &'a str,
    /// The secret that goes out and comes back.
    pub handle: &'a str,
}

impl StepKey<'_> {
    /// None: no step can have this name.
    fn id_hash(&self) -> Option<String> {
        let is_name = is_secret(self.browser) && is_secret(self.handle);
        is_name.then(|| hash(&format!("{}.{}", self.browser, self.handle)))
    }
}

pub async fn begin(
    store: &Store,
    place: &StepKey<'_>,
    (kind, detail): (StepKind, &str),
    (source, expires_at): (&str, Millis),
    now: Millis,
) -> Result<()> {
    let id_hash = place.id_hash().unwrap_or_default();
    store.people().begin_step(&NewStep { id_hash: &id_hash, kind, detail, source, expires_at }, now).await
}

/// What the step holds, while it is valid.
pub async fn find(store: &Store, place: &StepKey<'_>, kind: StepKind, now: Millis) -> Result<Option<String>> {
    match place.id_hash() {
        Some(id_hash) => store.people().sign_in_step(&id_hash, kind, now).await,
        None => Ok(None),
    }
}

/// Uses the step up. False: another request was faster.
pub async fn end(store: &Store, place: &StepKey<'_>) -> Result<bool> {
    match place.id_hash() {
        Some(id_hash) => store.people().end_step(&id_hash).await,
        None => Ok(false),
    }
}
