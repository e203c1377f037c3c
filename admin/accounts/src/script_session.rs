//! Sessions of scripts that were written for the console of xxl-job: they sign in with a name and a password, and send a cookie.
//!
//! The password is the account's own, unless that has a second factor, or one of its personal tokens; then the session may do what the
//! token may, and ends with it. What the cookie holds opens no session of the console, and the other way round: their hashes differ.

use carillon_scheduler::{AuditAction, Millis};
use carillon_store::people::sessions::SignInMethod;
use carillon_store::people::throttle::Attempt;
use carillon_store::{Actor, AuditObject, Store};
use serde_json::json;

use crate::password::Error;
use crate::second_factor;
use crate::secret::{hash, is_secret, random_secret};
use crate::session::{self, IDLE_MS, SEEN_STEP_MS, SignedIn};
use crate::sign_in::{self, Client, SignIn, source_subject};
use crate::token::{self, Bearer};

/// The result of an attempt to sign in.
pub enum ScriptSignIn {
    /// What the cookie is to hold.
    Opened(String),
    /// The name, the password or the token is wrong.
    Wrong,
    /// There were too many failed attempts.
    Throttled { until_at: Millis },
    /// The password is not enough; a token is.
    NeedsToken,
}

/// What is sent to sign in.
pub struct Credentials<'a> {
    pub name: &'a str,
    /// Or a personal token.
    pub password: &'a str,
    /// Passwords sign in here.
    pub has_passwords: bool,
    /// The program in its own words.
    pub agent: &'a str,
}

/// Checks the credentials and opens a session. A refusal is in the audit.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn sign_in(
    store: &Store,
    sent: &Credentials<'_>,
    (by, bearer): (&Actor, Bearer<'_>),
    now: Millis,
) -> Result<ScriptSignIn, Error> {
    if token::is_token(sent.password) {
        return with_token(store, sent, (by, bearer), now).await;
    }
    if !sent.has_passwords {
        return Ok(ScriptSignIn::NeedsToken);
    }
    let client = Client { by, proof: None };
    let (account_id, name, has_second_factor, credentials) =
        match sign_in::check(store, sent.name, sent.password, client, now).await? {
            SignIn::Accepted { account_id, name, has_second_factor, credentials } => {
                (account_id, name, has_second_factor, credentials)
            }
            SignIn::Wrong => return Ok(ScriptSignIn::Wrong),
            SignIn::Throttled { until_at } => return Ok(ScriptSignIn::Throttled { until_at }),
        };
    let by = Actor { name, ..by.clone() }.with_account(account_id);
    let account = store.people().account(account_id).await?;
    let is_asked = account.is_some_and(|it| second_factor::is_asked_of(bearer.needs_factor, &it.grants, None));
    if has_second_factor || is_asked {
        refuse(store, &by, account_id, "the password needs a second factor", now).await?;
        return Ok(ScriptSignIn::NeedsToken);
    }
    open(store, &by, (SignedIn::new(account_id, credentials, SignInMethod::Password), 0), sent.agent, now).await
}

async fn with_token(
    store: &Store,
    sent: &Credentials<'_>,
    (by, bearer): (&Actor, Bearer<'_>),
    now: Millis,
) -> Result<ScriptSignIn, Error> {
    // A token cannot be guessed. Attempts are counted by their source alone, so that failed ones of others lock out no name.
    let subjects = [source_subject(&by.source)];
    if let Attempt::Refused { until_at } = store.people().begin_attempt(&subjects, now).await? {
        refuse(store, by, 0, "too many failed attempts", now).await?;
        return Ok(ScriptSignIn::Throttled { until_at });
    }
    let owner = store.people().token_owner(&hash(sent.password), now).await?;
    let owner = owner.filter(|owner| owner.account == sent.name);
    let account = match &owner {
        Some(owner) => store.people().account(owner.account_id).await?,
        None => None,
    };
    if let (Some(owner), Some(account)) = (owner, account) {
        let id = owner.id;
        if let Some(actor) = token::admit(store, owner, &bearer, now).await? {
            store.people().end_attempt(&subjects).await?;
            let who = SignedIn::new(account.id, account.credentials, SignInMethod::Token);
            return open(store, &actor, (who, id), sent.agent, now).await;
        }
    }
    refuse(store, by, 0, "wrong name or token", now).await?;
    Ok(ScriptSignIn::Wrong)
}

async fn refuse(store: &Store, by: &Actor, account_id: i64, reason: &str, now: Millis) -> carillon_store::Result<()> {
    let (object, detail) = (AuditObject::account(account_id), json!({"reason": reason}));
    store.audit().record_refusal(by, AuditAction::RefuseSignIn, object, detail, now).await
}

/// `token_id`: 0 without a token. The hash covers it: a value with another id opens no session.
async fn open(
    store: &Store,
    by: &Actor,
    (who, token_id): (SignedIn, i64),
    agent: &str,
    now: Millis,
) -> Result<ScriptSignIn, Error> {
    let value = format!("{token_id}.{}", random_secret());
    let opened = session::open_hashed(store, by, who, (&id_hash(&value), None), agent, now).await?;
    Ok(if opened.is_some() { ScriptSignIn::Opened(value) } else { ScriptSignIn::Wrong })
}

/// Unlike that of any session of the console.
fn id_hash(value: &str) -> String {
    hash(&format!("xxl-console:{value}"))
}

/// The id of the token, and whether a session can have this value.
fn token_id(value: &str) -> Option<i64> {
    let (id, secret) = value.split_once('.')?;
    id.parse().ok().filter(|_| is_secret(secret))
}

/// The actor whose session has this value. None: it has ended, or its person may not use it any more.
pub async fn actor(
    store: &Store,
    value: &str,
    bearer: Bearer<'_>,
    now: Millis,
) -> carillon_store::Result<Option<Actor>> {
    let Some(token_id) = token_id(value) else {
        return Ok(None);
    };
    let id_hash = id_hash(value);
    let Some(session) = store.people().session(&id_hash, now, IDLE_MS).await? else {
        return Ok(None);
    };
    if now - session.seen_at >= SEEN_STEP_MS {
        store.people().touch_session(&id_hash, now).await?;
    }
    if token_id > 0 {
        return match store.people().token_of(session.account_id, token_id, now).await? {
            Some(owner) => token::admit(store, owner, &bearer, now).await,
            None => Ok(None),
        };
    }
    let is_asked = second_factor::is_asked_of(bearer.needs_factor, &session.grants, None);
    if is_asked || session.totp_since.is_some() {
        return Ok(None);
    }
    let actor = Actor::new(session.account, bearer.source, session.grants).with_account(session.account_id);
    Ok(Some(actor.with_request(bearer.request_id.map(str::to_owned))))
}

/// Ends the session with this value, whose actor this is.
pub async fn close(store: &Store, value: &str, by: &Actor, now: Millis) -> carillon_store::Result<()> {
    let account_id = by.account_id.unwrap_or_default();
    store.people().sign_out(account_id, &id_hash(value), now, by).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S7
    #[test]
    fn a_value_of_one_kind_of_session_is_none_of_the_other() {
        let value = format!("0.{}", random_secret());
        assert_eq!(token_id(&value), Some(0));
        assert!(!is_secret(&value), "the console asks the database for secrets alone");
        assert_ne!(id_hash(&value), hash(&value));
        for other in [random_secret(), format!("x.{}", random_secret()), "7.short".to_owned(), String::new()] {
            assert_eq!(token_id(&other), None, "{other}");
        }
    }
}
