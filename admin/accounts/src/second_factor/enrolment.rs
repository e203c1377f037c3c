//! A person sets up the own second factor, or removes it.

use carillon_scheduler::Millis;
use carillon_store::{Actor, Store};

use crate::password::Error;
use crate::second_factor::check::{CodeCheck, check, context};
use crate::second_factor::qr;
use crate::second_factor::totp::{Secret, base32, groups};
use crate::secret::hash;
use crate::secret_keys::{NoKey, SecretKeys};
use crate::sign_in::{self, Client, SignIn};

const RECOVERY_CODES: usize = 10;

/// A secret that is shown to its owner, once.
pub struct Proposal {
    pub secret: Secret,
    /// Width and path of the QR code.
    pub qr: Option<(usize, String)>,
}

/// The result of asking for a secret.
pub enum Proposed {
    Shown(Proposal),
    /// The password is another one.
    WrongPassword,
    Throttled {
        until_at: Millis,
    },
    /// The account has a second factor already.
    Exists,
    NoKey(NoKey),
}

/// Makes a secret. It counts when [`confirm`] has seen a code of it. Needs the password: who finds an open browser cannot lock the
/// owner out.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn propose(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    password: &str,
    now: Millis,
    by: &Actor,
) -> Result<Proposed, Error> {
    let secret = Secret::random();
    let sealed = match keys.seal(&context(account_id), secret.as_str()) {
        Ok(sealed) => sealed,
        Err(no_key) => return Ok(Proposed::NoKey(no_key)),
    };
    if password.is_empty() {
        return Ok(Proposed::WrongPassword);
    }
    let client = Client { by, proof: None };
    match sign_in::check(store, &by.name, password, client, now).await? {
        SignIn::Accepted { account_id: found, .. } if found == account_id => {}
        SignIn::Throttled { until_at } => return Ok(Proposed::Throttled { until_at }),
        _ => return Ok(Proposed::WrongPassword),
    }
    if !store.propose_second_factor(account_id, &sealed).await? {
        return Ok(Proposed::Exists);
    }
    let qr = qr::path(&secret.address(&by.name));
    Ok(Proposed::Shown(Proposal { secret, qr }))
}

/// Turns the second factor on with a code of the secret that was shown. The recovery codes are returned once; None: it is no code of
/// that secret.
///
/// # Errors
/// The database could not be asked.
pub async fn confirm(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    code: &str,
    now: Millis,
    by: &Actor,
) -> Result<Option<Vec<String>>, Error> {
    let Some(stored) = store.second_factor(account_id).await?.filter(|factor| factor.since.is_none()) else {
        return Ok(None);
    };
    let secret = keys.open(&context(account_id), &stored.sealed_secret).map(Secret::from_text);
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let Some(step) = secret.and_then(|secret| secret.step_of(&code, now)) else {
        return Ok(None);
    };
    let codes: Vec<String> = (0..RECOVERY_CODES).map(|_| base32(&rand::random::<[u8; 10]>())).collect();
    let hashes: Vec<String> = codes.iter().map(|code| hash(code)).collect();
    let is_on = store.confirm_second_factor(account_id, (&stored.sealed_secret, step), &hashes, now, by).await?;
    Ok(is_on.then(|| codes.iter().map(|code| groups(code, "-")).collect()))
}

/// Turns the second factor off with a code.
///
/// # Errors
/// The database could not be asked.
pub async fn remove(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    code: &str,
    now: Millis,
    by: &Actor,
) -> Result<CodeCheck, Error> {
    if store.second_factor(account_id).await?.is_none_or(|factor| factor.since.is_none()) {
        return Ok(CodeCheck::Wrong);
    }
    let checked = check(store, keys, account_id, code, by, now).await?;
    if matches!(checked, CodeCheck::Right { .. }) {
        store.remove_second_factor(account_id, now, by).await?;
    }
    Ok(checked)
}
