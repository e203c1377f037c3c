//! Signing in and out. Failed attempts are counted by account and by source; too many are refused for a while.

use carillon_scheduler::{AuditAction, Millis};
use carillon_store::people::throttle::Attempt;
use carillon_store::{Actor, Store};
use serde_json::json;

use crate::password::{self, Error};
use crate::secret::hash;
use crate::session::{self, Browser, Opened, Viewer};

/// The result of an attempt to sign in.
pub enum SignIn {
    Accepted {
        account_id: i64,
        name: String,
    },
    /// The name or the password is wrong.
    Wrong,
    /// There were too many failed attempts.
    Throttled {
        until_at: Millis,
    },
}

/// Checks name and password. `source`: the address of the client.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn check(store: &Store, name: &str, secret: &str, source: &str, now: Millis) -> Result<SignIn, Error> {
    // The name is hashed: it may be long, or a password in the wrong field.
    let (account_key, source_key) = (format!("account:{}", hash(name)), format!("source:{source}"));
    let attempt = store.begin_attempt(&[account_key.clone(), source_key.clone()], now).await?;
    if let Attempt::Refused { until_at } = attempt {
        return Ok(SignIn::Throttled { until_at });
    }
    // MySQL compares names without the spaces at their ends; each number of them would be another count of attempts.
    let account = match name.trim() == name {
        true => store.account_by_name(name).await?.filter(|account| account.disabled_at.is_none()),
        false => None,
    };
    let known = account.as_ref().map(|account| account.password_hash.as_str());
    let is_right = password::verify(secret, known).await?;
    let Some(account) = account.filter(|_| is_right) else {
        return Ok(SignIn::Wrong);
    };
    store.end_attempt(&account_key, &source_key, now).await?;
    if password::is_outdated(&account.password_hash) {
        let new = password::hash(secret).await?;
        store.rehash_password(account.id, &account.password_hash, &new).await?;
    }
    Ok(SignIn::Accepted { account_id: account.id, name: account.name })
}

/// Opens a session for the account of the actor, with its audit entry. `old_id`: the session that the browser had; `agent`: its name.
///
/// # Errors
/// The database could not be written.
pub async fn begin(
    store: &Store,
    by: &Actor,
    account_id: i64,
    old_id: Option<&str>,
    agent: &str,
    now: Millis,
) -> carillon_store::Result<Opened> {
    store.record_audit(by, AuditAction::SignIn, ("account", account_id), json!({}), now).await?;
    session::open(store, old_id, account_id, &Browser { source: &by.source, agent }, now).await
}

/// Ends the viewer's session, with its audit entry.
///
/// # Errors
/// The database could not be written.
pub async fn end(store: &Store, by: &Actor, viewer: &Viewer, now: Millis) -> carillon_store::Result<()> {
    store.record_audit(by, AuditAction::SignOut, ("account", viewer.account_id), json!({}), now).await?;
    session::close(store, viewer).await
}
