//! Checks who signs in. Failed attempts are counted by account and by source; too many are refused for a while.

use carillon_scheduler::{AuditAction, Millis};
use carillon_store::people::accounts::Account;
use carillon_store::people::throttle::{Attempt, Subject};
use carillon_store::{Actor, AuditObject, Store, source_network};
use serde_json::json;

use crate::device;
use crate::password::{self, Error};
use crate::secret::hash;

/// The result of an attempt to sign in.
pub enum SignIn {
    Accepted {
        account_id: i64,
        name: String,
        /// A code is to be asked for before a session begins.
        has_second_factor: bool,
        /// The number of the account's credentials, of which the password is one.
        credentials: i64,
    },
    /// The name or the password is wrong.
    Wrong,
    /// There were too many failed attempts.
    Throttled { until_at: Millis },
}

/// The client that tries to sign in.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// The sender of the request, as far as that is known.
    pub by: &'a Actor,
    /// What it got when it last signed in: see [`device`].
    pub proof: Option<&'a str>,
}

/// Checks name and password. A refusal is in the audit.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn check(store: &Store, name: &str, secret: &str, client: Client<'_>, now: Millis) -> Result<SignIn, Error> {
    let (result, account) = attempt(store, name, secret, client, now).await?;
    let why = match result {
        SignIn::Accepted { .. } => return Ok(result),
        SignIn::Wrong => "wrong name or password",
        SignIn::Throttled { .. } => "too many failed attempts",
    };
    // The name that was typed may be a password: it is kept only if there is such an account.
    let (by, object) = match account {
        Some(account) => {
            let named = Actor { name: account.name, ..client.by.clone() }.with_account(account.id);
            (named, AuditObject::account(account.id))
        }
        None => (client.by.clone(), AuditObject::account(0)),
    };
    store.audit().record_refusal(&by, AuditAction::RefuseSignIn, object, json!({"reason": why}), now).await?;
    Ok(result)
}

/// The result, and the account of that name.
async fn attempt(
    store: &Store,
    name: &str,
    secret: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<(SignIn, Option<Account>), Error> {
    let named = account(store, name).await?;
    let account = named.clone().filter(|account| account.disabled_at.is_none());
    let subjects = subjects(name, account.as_ref(), client);
    if let Attempt::Refused { until_at } = store.people().begin_attempt(&subjects, now).await? {
        return Ok((SignIn::Throttled { until_at }, named));
    }
    // An account of an OpenID provider has no hash.
    let known = account.as_ref().map(|account| account.password_hash.as_str()).filter(|hash| !hash.is_empty());
    let is_known = matches!(&subjects[..], [Subject::Single(_)]);
    let is_right = password::verify(secret, known, is_known).await?;
    let Some(account) = account.filter(|_| is_right) else {
        return Ok((SignIn::Wrong, named));
    };
    store.people().end_attempt(&subjects).await?;
    if password::is_outdated(&account.password_hash) {
        let new = password::hash(secret).await?;
        store.people().rehash_password(account.id, &account.password_hash, &new).await?;
    }
    let (has_second_factor, credentials) = (account.totp_since.is_some(), account.credentials);
    Ok((SignIn::Accepted { account_id: account.id, name: account.name, has_second_factor, credentials }, named))
}

/// What the attempt is counted by: the account and the source, or the browser alone if it has signed in to this account before.
fn subjects(name: &str, account: Option<&Account>, client: Client<'_>) -> Vec<Subject> {
    let known = client.proof.zip(account).and_then(|(proof, account)| device::subject(proof, account));
    if let Some(browser) = known {
        return vec![Subject::Single(browser)];
    }
    // The name is hashed: it may be long, or a password in the wrong field.
    let account = Subject::Single(format!("account:{}", hash(name)));
    vec![account, source_subject(&client.by.source)]
}

/// What attempts of all kinds from an address are counted by.
pub(crate) fn source_subject(source: &str) -> Subject {
    Subject::Shared(format!("source:{}", source_network(source)))
}

async fn account(store: &Store, name: &str) -> Result<Option<Account>, Error> {
    // MySQL compares names without the spaces at their ends; each number of them would be another count of attempts.
    if name.trim() != name {
        return Ok(None);
    }
    Ok(store.people().account_by_name(name).await?)
}

/// What a browser that has just signed in keeps, so that failed attempts of others do not keep it out.
pub async fn proof(store: &Store, account_id: i64) -> carillon_store::Result<Option<String>> {
    // There is none of an account without a password.
    let account = store.people().account(account_id).await?.filter(|account| !account.password_hash.is_empty());
    Ok(account.as_ref().map(device::proof))
}
