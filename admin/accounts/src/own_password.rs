//! Verifies that the person at the browser owns the account, and changes the own password.

use carillon_scheduler::Millis;
use carillon_store::Store;
use carillon_store::people::credentials::NewPassword;

use crate::password::{self, Error};
use crate::session::Viewer;
use crate::sign_in::{self, Client, SignIn};

/// An account of an OpenID provider has no password: in place of it, the sign-in by the provider must be younger than this.
const FRESH_MS: i64 = 15 * 60_000;

/// Whether the person at the browser is the owner of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerCheck {
    Right {
        /// The number of the credentials that were checked.
        credentials: i64,
    },
    WrongPassword,
    /// There were too many failed attempts.
    Throttled {
        until_at: Millis,
    },
    /// The account has no password, and the last sign-in by the provider was too long ago.
    SignInAgain,
}

/// Asks for the password, so that an unattended browser does not suffice for changes that outlive its session.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn check_owner(
    store: &Store,
    viewer: &Viewer,
    password: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<OwnerCheck, Error> {
    if viewer.issuer.is_some() {
        let is_fresh = now - viewer.signed_in_at <= FRESH_MS;
        let fresh = OwnerCheck::Right { credentials: viewer.credentials };
        return Ok(if is_fresh { fresh } else { OwnerCheck::SignInAgain });
    }
    if password.is_empty() {
        return Ok(OwnerCheck::WrongPassword);
    }
    Ok(match sign_in::check(store, &viewer.name, password, client, now).await? {
        SignIn::Accepted { account_id, credentials, .. } if account_id == viewer.account_id => {
            OwnerCheck::Right { credentials }
        }
        SignIn::Throttled { until_at } => OwnerCheck::Throttled { until_at },
        _ => OwnerCheck::WrongPassword,
    })
}

/// The result of an attempt to change the own password.
pub enum PasswordChange {
    Done {
        /// The number of the credentials from now on.
        credentials: i64,
    },
    /// The current password is another one.
    WrongCurrent,
    /// What is wrong with the new one.
    Refused(String),
    /// There were too many failed attempts.
    Throttled { until_at: Millis },
}

/// The passwords of the form.
pub struct Passwords<'a> {
    pub current: &'a str,
    pub new: &'a str,
    /// The tokens of the account end, too.
    pub revoke_tokens: bool,
}

/// Needs the current password: who finds an open browser cannot take the account over. All sessions of the account end, the own one
/// too.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn change(
    store: &Store,
    viewer: &Viewer,
    passwords: &Passwords<'_>,
    client: Client<'_>,
    now: Millis,
) -> Result<PasswordChange, Error> {
    if let Some(complaint) = password::complaint(passwords.new, &viewer.name) {
        return Ok(PasswordChange::Refused(complaint));
    }
    let checked = match check_owner(store, viewer, passwords.current, client, now).await? {
        OwnerCheck::Right { credentials } if viewer.issuer.is_none() => credentials,
        OwnerCheck::Throttled { until_at } => return Ok(PasswordChange::Throttled { until_at }),
        _ => return Ok(PasswordChange::WrongCurrent),
    };
    let hash = password::hash(passwords.new).await?;
    let new = NewPassword { hash: &hash, revoke_tokens: passwords.revoke_tokens, credentials: Some(checked) };
    Ok(match store.people().set_password(viewer.account_id, &new, now, client.by).await? {
        Some(credentials) => PasswordChange::Done { credentials },
        // Somebody has set another one meanwhile.
        None => PasswordChange::WrongCurrent,
    })
}
