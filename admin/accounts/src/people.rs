//! Accounts as an administrator manages them, on the users page and on the command line.

use carillon_scheduler::Millis;
use carillon_store::people::accounts::{Account, NewAccount};
use carillon_store::people::credentials::NewPassword;
use carillon_store::people::sessions::EndedAccess;
use carillon_store::{self as store, Actor, Grants, Store};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::password::{self, Error};
use crate::policy::{self, Action, Object};
use crate::secret::{hash, is_secret, random_secret};

const NAME_MAX: usize = 64;
/// The audit has these as actors that act without an account.
const RESERVED: [&str; 8] = ["api-token", "carillon", "cli", "engine", "executor", "openid", "setup", "unknown"];
/// How long a link for a new password is valid.
pub const RESET_LINK_MS: i64 = 24 * 3_600_000;

/// A link for a new password: what its address holds.
pub struct ResetLink {
    pub secret: String,
    pub expires_at: Millis,
}

fn must_administer(by: &Actor) -> Result<(), Error> {
    match policy::may(by, Action::Administer, Object::Installation) {
        true => Ok(()),
        false => Err(Error::Forbidden(policy::refusal(Action::Administer, Object::Installation))),
    }
}

/// Password and roles of such an account are the provider's affair.
async fn must_have_password(store: &Store, account_id: i64) -> Result<(), Error> {
    let found = store.people().account(account_id).await?;
    match found.and_then(|account| account.issuer) {
        Some(issuer) => Err(Error::Refused(format!(
            "This account signs in by the OpenID provider {issuer}, which decides about its password and its roles."
        ))),
        None => Ok(()),
    }
}

pub fn name_complaint(name: &str) -> Option<String> {
    let length = name.chars().count();
    if !(1..=NAME_MAX).contains(&length) {
        return Some(format!("The name has {length} characters; choose 1 to {NAME_MAX}."));
    }
    if name.trim() != name || !name.chars().all(is_visible) || !name.nfkc().eq(name.chars()) {
        let what = "The name begins or ends with a space, or holds a character that readers cannot tell from another or cannot see.";
        return Some(what.to_owned());
    }
    is_reserved(name).then(|| format!("The audit calls a part of the program {name}; choose another name."))
}

/// Letters, marks and digits of any script, and what ASCII prints: no control or format characters, no other spaces, no signs that
/// turn the direction of a text.
pub(crate) fn is_visible(c: char) -> bool {
    c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ' || is_combining_mark(c)
}

/// Whether the audit would take an account of this name for something else. In each spelling: readers do not look that closely.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name.to_lowercase().as_str())
}

/// Makes an account with a password.
///
/// # Errors
/// `Refused` with the reason for a bad name or password, `Store(Taken)` for a name that exists, `Forbidden`.
pub async fn add(
    store: &Store,
    name: &str,
    password: &str,
    grants: &Grants,
    now: Millis,
    by: &Actor,
) -> Result<i64, Error> {
    must_administer(by)?;
    let complaint = name_complaint(name).or_else(|| password::complaint(password, name));
    if let Some(complaint) = complaint {
        return Err(Error::Refused(complaint));
    }
    let password_hash = &password::hash(password).await?;
    Ok(store.people().create_account(&NewAccount { name, password_hash, grants }, now, by).await?)
}

/// Makes an account without a password that anyone knows, and a link with which its owner sets one.
///
/// # Errors
/// As [`add`].
pub async fn invite(
    store: &Store,
    name: &str,
    grants: &Grants,
    now: Millis,
    by: &Actor,
) -> Result<(i64, ResetLink), Error> {
    must_administer(by)?;
    if let Some(complaint) = name_complaint(name) {
        return Err(Error::Refused(complaint));
    }
    let password_hash = &password::hash(&random_secret()).await?;
    let link = ResetLink { secret: random_secret(), expires_at: now + RESET_LINK_MS };
    let new = NewAccount { name, password_hash, grants };
    let id = store.people().invite_account(&new, (&hash(&link.secret), link.expires_at), now, by).await?;
    Ok((id, link))
}

/// Makes a link with which the owner of the account sets a new password, once; an older link ends. The old password works until
/// then.
///
/// # Errors
/// `Refused` for an account of an OpenID provider; `Store(Missing)`, `Forbidden`
pub async fn reset_link(store: &Store, account_id: i64, now: Millis, by: &Actor) -> Result<ResetLink, Error> {
    must_administer(by)?;
    must_have_password(store, account_id).await?;
    let link = ResetLink { secret: random_secret(), expires_at: now + RESET_LINK_MS };
    store.people().put_reset_link(account_id, &hash(&link.secret), link.expires_at, now, by).await?;
    Ok(link)
}

/// Id and name of the account that a link is for; None: it is no valid link.
pub async fn account_of_link(store: &Store, secret: &str, now: Millis) -> store::Result<Option<(i64, String)>> {
    // No query for a text that no link holds.
    if !is_secret(secret) {
        return Ok(None);
    }
    store.people().account_of_reset_link(&hash(secret), now).await
}

/// A link that was used.
pub struct UsedLink {
    pub account_id: i64,
    pub name: String,
    /// The number of the account's credentials from now on.
    pub credentials: i64,
}

/// Sets the password of the account that a link is for, and uses the link up; sessions and tokens of the account end. None: it is no
/// valid link any more.
///
/// # Errors
/// `Refused` with the reason for a bad password.
pub async fn use_link(
    store: &Store,
    secret: &str,
    password: &str,
    now: Millis,
    by: &Actor,
) -> Result<Option<UsedLink>, Error> {
    let Some((account_id, name)) = account_of_link(store, secret, now).await? else {
        return Ok(None);
    };
    if let Some(complaint) = password::complaint(password, &name) {
        return Err(Error::Refused(complaint));
    }
    let password_hash = password::hash(password).await?;
    let by = Actor { name: name.clone(), ..by.clone() }.with_account(account_id);
    let used = store.people().use_reset_link(account_id, &hash(secret), &password_hash, now, &by).await?;
    Ok(used.map(|credentials| UsedLink { account_id, name, credentials }))
}

/// Sets what an account may do, and ends its sessions.
///
/// # Errors
/// `Refused` for an account of an OpenID provider; `Store(Missing)`; `Store(InUse)` for the last administrator; `Forbidden`
pub async fn set_grants(store: &Store, account_id: i64, grants: &Grants, now: Millis, by: &Actor) -> Result<(), Error> {
    must_administer(by)?;
    must_have_password(store, account_id).await?;
    Ok(store.people().set_grants(account_id, grants, now, by).await?)
}

/// Lets an account sign in or not; its sessions and tokens end.
///
/// # Errors
/// As [`set_grants`].
pub async fn set_enabled(store: &Store, account_id: i64, enabled: bool, now: Millis, by: &Actor) -> Result<(), Error> {
    must_administer(by)?;
    Ok(store.people().set_account_enabled(account_id, enabled, now, by).await?)
}

/// Removes an account with its sessions and tokens.
///
/// # Errors
/// As [`set_enabled`].
pub async fn remove(store: &Store, account_id: i64, now: Millis, by: &Actor) -> Result<(), Error> {
    must_administer(by)?;
    Ok(store.people().delete_account(account_id, now, by).await?)
}

/// Removes the second factor of an account whose owner has lost it.
///
/// # Errors
/// `Store(Missing)`: it has none; `Forbidden`
pub async fn remove_second_factor(store: &Store, account_id: i64, now: Millis, by: &Actor) -> Result<(), Error> {
    must_administer(by)?;
    Ok(store.people().remove_second_factor(account_id, None, now, by).await?)
}

/// Ends the sessions and tokens of an account; how many they were.
///
/// # Errors
/// `Forbidden`
pub async fn end_access(store: &Store, account_id: i64, now: Millis, by: &Actor) -> Result<EndedAccess, Error> {
    must_administer(by)?;
    Ok(store.people().end_access(account_id, now, by).await?)
}

/// Ends a token of an account. False: it has no such token.
///
/// # Errors
/// `Forbidden`
pub async fn revoke_token(
    store: &Store,
    account_id: i64,
    token_id: i64,
    now: Millis,
    by: &Actor,
) -> Result<bool, Error> {
    must_administer(by)?;
    Ok(store.people().revoke_token(account_id, token_id, now, by).await?)
}

/// Sets a password and ends the sessions and tokens of its owner.
///
/// # Errors
/// `Refused` with the reason for a bad password, `Store(Missing)` for a name that does not exist, `Forbidden`.
pub async fn set_password(store: &Store, name: &str, password: &str, now: Millis, by: &Actor) -> Result<(), Error> {
    must_administer(by)?;
    if let Some(complaint) = password::complaint(password, name) {
        return Err(Error::Refused(complaint));
    }
    let account = by_name(store, name).await?;
    must_have_password(store, account.id).await?;
    let hash = password::hash(password).await?;
    let new = NewPassword { hash: &hash, revoke_tokens: true, credentials: None };
    store.people().set_password(account.id, &new, now, by).await?;
    Ok(())
}

/// # Errors
/// `Store(Missing)`
pub async fn by_name(store: &Store, name: &str) -> Result<Account, Error> {
    let found = store.people().account_by_name(name).await?;
    found.ok_or_else(|| store::Error::Missing(format!("the user {name:?}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S37
    #[test]
    fn no_account_has_the_name_of_an_actor_without_one() {
        for name in ["cli", "CLI", "Engine", "api-token", "Unknown", "openid"] {
            assert!(name_complaint(name).is_some_and(|text| text.contains("choose another name")), "{name}");
        }
        for name in ["client", "ada", "engine 2", "admin"] {
            assert_eq!(name_complaint(name), None, "{name}");
        }
    }

    // covers: W22
    #[test]
    fn names_that_look_like_others_are_refused() {
        for name in
            ["admin\u{200b}", "\u{202e}nimda", "ａｄｍｉｎ", "ad\u{ad}min", "admin\u{2060}", "ﬁona", "a\u{a0}b", "a\nb"]
        {
            assert!(name_complaint(name).is_some(), "{name:?}");
        }
        for name in ["José", "李雷", "Ольга", "प्रिया", "o'brien-smith_7@example.org", "Ada Lovelace"]
        {
            assert_eq!(name_complaint(name), None, "{name}");
        }
    }
}
