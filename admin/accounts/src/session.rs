//! Sessions of the console: the browser holds a random id, the database its hash.

use carillon_scheduler::Millis;
use carillon_store::people::sessions::{NewSession, SecondStep, SessionEntry, SignInMethod};
use carillon_store::{Actor, Grants, Result, Store};

use crate::secret::{hash, is_secret, random_secret};

/// A session ends after this time without a request.
pub(crate) const IDLE_MS: i64 = 30 * 60_000;
/// A session ends this long after signing in, in any case.
pub(crate) const LONGEST_MS: i64 = 12 * 3_600_000;
/// The resolution of `seen_at`, which saves a write for most page views.
pub(crate) const SEEN_STEP_MS: i64 = 60_000;

/// A signed-in person.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub account_id: i64,
    pub name: String,
    pub grants: Grants,
    /// The form token of this session.
    pub csrf: String,
    /// Names the session; opens nothing.
    pub id_hash: String,
    /// The OpenID provider that the person signs in with.
    pub issuer: Option<String>,
    /// A code was asked for after the password, or will be the next time.
    pub has_second_factor: bool,
    /// The language that the person has chosen.
    pub language: Option<String>,
    /// When the session began.
    pub signed_in_at: Millis,
    /// The number of the account's credentials.
    pub credentials: i64,
}

/// A person who was found to be the owner of an account.
#[derive(Clone, Copy, Debug)]
pub struct SignedIn {
    pub account_id: i64,
    /// The number of the account's credentials at that time.
    pub credentials: i64,
    pub method: SignInMethod,
    pub second_step: Option<SecondStep>,
}

impl SignedIn {
    pub fn new(account_id: i64, credentials: i64, method: SignInMethod) -> Self {
        Self { account_id, credentials, method, second_step: None }
    }
}

/// The person whose session has this id. `active`: the person did something, the request is no mere refresh.
pub async fn viewer(store: &Store, id: &str, now: Millis, active: bool) -> Result<Option<Viewer>> {
    // No query for a value that no session can have.
    if !is_secret(id) {
        return Ok(None);
    }
    let id_hash = hash(id);
    let Some(session) = store.people().session(&id_hash, now, IDLE_MS).await? else {
        return Ok(None);
    };
    if active && now - session.seen_at >= SEEN_STEP_MS {
        store.people().touch_session(&id_hash, now).await?;
    }
    Ok(Some(Viewer {
        account_id: session.account_id,
        name: session.account,
        grants: session.grants,
        csrf: session.csrf,
        id_hash,
        issuer: session.issuer,
        has_second_factor: session.totp_since.is_some(),
        language: session.language,
        signed_in_at: session.created_at,
        credentials: session.credentials,
    }))
}

/// A session that was just opened: its id for the cookie, and its form token.
pub struct OpenedSession {
    pub id: String,
    pub csrf: String,
}

/// Opens a session for the account of the actor under a new id, and ends the one that the browser had. `agent`: the browser's name
/// in its own words. None: the account was disabled or signs in otherwise since its owner was checked.
pub async fn open(
    store: &Store,
    by: &Actor,
    signed_in: SignedIn,
    old_id: Option<&str>,
    agent: &str,
    now: Millis,
) -> Result<Option<OpenedSession>> {
    let id = random_secret();
    let csrf = open_hashed(store, by, signed_in, (&hash(&id), old_id.map(hash).as_deref()), agent, now).await?;
    Ok(csrf.map(|csrf| OpenedSession { id, csrf }))
}

/// The same for the hashes of the new and the old id. Answers what protects its forms.
pub(crate) async fn open_hashed(
    store: &Store,
    by: &Actor,
    signed_in: SignedIn,
    (id_hash, old_id_hash): (&str, Option<&str>),
    agent: &str,
    now: Millis,
) -> Result<Option<String>> {
    let csrf = random_secret();
    let SignedIn { account_id, credentials, method, second_step } = signed_in;
    let new = NewSession {
        id_hash,
        account_id,
        csrf: &csrf,
        now,
        expires_at: now + LONGEST_MS,
        agent,
        credentials,
        method,
        second_step,
    };
    let is_open = store.people().open_session(&new, old_id_hash, IDLE_MS, by).await?;
    Ok(is_open.then_some(csrf))
}

/// The sessions of an account, the latest used first.
pub async fn list(store: &Store, account_id: i64, now: Millis) -> Result<Vec<SessionEntry>> {
    store.people().sessions_of(account_id, now, IDLE_MS).await
}

/// Ends the viewer's session.
pub async fn close(store: &Store, viewer: &Viewer, now: Millis, by: &Actor) -> Result<()> {
    store.people().sign_out(viewer.account_id, &viewer.id_hash, now, by).await.map(drop)
}
