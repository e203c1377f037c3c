//! The first administrator, created from a setting or with the one-time set-up secret.

use carillon_scheduler::Millis;
use carillon_store::{self as store, Actor, Grants, Role, Store};
use subtle::ConstantTimeEq as _;

use crate::password::{self, Error};
use crate::people;
use crate::secret::{hash, random_secret};

/// Name of the administrator that `--admin-password` makes.
pub const FIRST_ADMIN: &str = "admin";
const SECRET_MS: i64 = 30 * 60_000;

/// What the first visitor of the console must know, for half an hour.
#[derive(Clone)]
pub struct SetupSecret {
    pub secret: String,
    pub expires_at: Millis,
}

/// How a node found the accounts when it started.
pub enum FirstAdmin {
    /// There are accounts already.
    Exists,
    /// `admin` was made just now, with the given password.
    Made,
    /// There is no account: the person who has this secret can create the first one.
    Awaited(SetupSecret),
}

/// On a database without accounts: makes `admin` with the password, or without one a set-up secret to be printed.
///
/// # Errors
///
/// The password is refused (length, too common), or the database fails.
pub async fn ensure_first_admin(store: &Store, password: Option<&str>, now: Millis) -> Result<FirstAdmin, Error> {
    if store.people().has_accounts().await? {
        return Ok(FirstAdmin::Exists);
    }
    if let Some(password) = password {
        let (grants, by) = (Grants::for_all(Role::Admin), Actor::unlimited("setup", ""));
        return match people::add(store, FIRST_ADMIN, password, &grants, now, &by).await {
            Ok(_) => Ok(FirstAdmin::Made),
            // Another node started at the same time.
            Err(Error::Store(store::Error::Taken(_))) => Ok(FirstAdmin::Exists),
            Err(error) => Err(error),
        };
    }
    let secret = random_secret();
    let expires_at = now + SECRET_MS;
    store.people().put_setup_secret(&hash(&secret), expires_at).await?;
    Ok(FirstAdmin::Awaited(SetupSecret { secret, expires_at }))
}

/// Whether a set-up secret is the one that was printed. Guesses need no throttle: the secret has 256 bits.
pub enum SecretCheck {
    Right(StoredSecret),
    Wrong,
    Expired,
}

/// The hash of the secret, and its end.
pub type StoredSecret = (String, Millis);

pub async fn check_secret(store: &Store, sent: &str, now: Millis) -> store::Result<SecretCheck> {
    let Some(stored) = store.people().setup_secret().await?.filter(|(_, expires_at)| *expires_at > now) else {
        return Ok(SecretCheck::Expired);
    };
    match bool::from(hash(sent).as_bytes().ct_eq(stored.0.as_bytes())) {
        true => Ok(SecretCheck::Right(stored)),
        false => Ok(SecretCheck::Wrong),
    }
}

/// Makes the first administrator; returns the account's id. None: there is an account already.
///
/// # Errors
/// The database could not be written, or the password not be hashed.
pub async fn set_up(
    store: &Store,
    secret: &StoredSecret,
    name: &str,
    password: &str,
    now: Millis,
    by: &Actor,
) -> Result<Option<i64>, Error> {
    let hash = password::hash(password).await?;
    Ok(store.people().set_up(secret, name, &hash, now, by).await?)
}
