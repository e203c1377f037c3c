//! A person sets up the own second factor, or removes it.

use carillon_scheduler::Millis;
use carillon_store::Store;
use carillon_store::people::second_factor::ConfirmedFactor;
use carillon_store::people::throttle::{Attempt, Subject};

use crate::own_password::{self, OwnerCheck};
use crate::password::Error;
use crate::second_factor::check::{CodeCheck, check, context};
use crate::second_factor::qr;
use crate::second_factor::totp::{Secret, base32, groups};
use crate::secret::hash;
use crate::secret_keys::{NoKey, SecretKeys};
use crate::session::Viewer;
use crate::sign_in::Client;

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

/// The result of the first code of a secret.
pub enum Confirmed {
    /// The second factor is on; these are the recovery codes.
    On(Vec<String>),
    /// It is no code of that secret.
    Wrong,
    /// No secret was shown in this session, or too long ago.
    Expired,
    Throttled {
        until_at: Millis,
    },
}

/// Makes a secret. It counts when [`confirm`] has seen a code of it. Needs the password: who finds an open browser cannot lock the
/// owner out.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn propose(
    store: &Store,
    keys: &SecretKeys,
    viewer: &Viewer,
    password: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<Proposed, Error> {
    let secret = Secret::random();
    let sealed = match keys.seal(&context(viewer.account_id), secret.as_str()) {
        Ok(sealed) => sealed,
        Err(no_key) => return Ok(Proposed::NoKey(no_key)),
    };
    match own_password::check_owner(store, viewer, password, client, now).await? {
        // An account without a password has the second factor of its provider.
        OwnerCheck::Right { .. } if viewer.issuer.is_none() => {}
        OwnerCheck::Throttled { until_at } => return Ok(Proposed::Throttled { until_at }),
        _ => return Ok(Proposed::WrongPassword),
    }
    if !store.people().propose_second_factor((viewer.account_id, viewer.id_hash.as_str()), &sealed, now).await? {
        return Ok(Proposed::Exists);
    }
    let qr = qr::path(&secret.address(&viewer.name));
    Ok(Proposed::Shown(Proposal { secret, qr }))
}

/// Turns the second factor on with a code of the secret that was shown in this session. The recovery codes are returned once. Other
/// sessions of the account end: none of them has given a code.
pub async fn confirm(
    store: &Store,
    keys: &SecretKeys,
    viewer: &Viewer,
    code: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<Confirmed, Error> {
    let place = (viewer.account_id, viewer.id_hash.as_str());
    let Some(stored) = store.people().proposed_factor(place, now).await? else {
        return Ok(Confirmed::Expired);
    };
    // By the session, to which the secret belongs: another one cannot use the attempts up.
    let subjects = [Subject::Single(format!("confirm:{}", viewer.id_hash))];
    if let Attempt::Refused { until_at } = store.people().begin_attempt(&subjects, now).await? {
        return Ok(Confirmed::Throttled { until_at });
    }
    let secret = keys.open(&context(viewer.account_id), &stored.sealed_secret).map(Secret::from_text);
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let Some(step) = secret.and_then(|secret| secret.step_of(&code, now)) else {
        return Ok(Confirmed::Wrong);
    };
    store.people().end_attempt(&subjects).await?;
    let codes: Vec<String> = (0..RECOVERY_CODES).map(|_| base32(&rand::random::<[u8; 10]>())).collect();
    let hashes: Vec<String> = codes.iter().map(|code| hash(code)).collect();
    let factor = ConfirmedFactor { sealed_secret: &stored.sealed_secret, step, recovery_hashes: &hashes };
    Ok(match store.people().confirm_second_factor(place, &factor, now, client.by).await? {
        true => Confirmed::On(codes.iter().map(|code| groups(code, "-")).collect()),
        false => Confirmed::Expired,
    })
}

/// Turns the second factor off with a code.
pub async fn remove(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    code: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<CodeCheck, Error> {
    if store.people().second_factor(account_id).await?.is_none_or(|factor| factor.since.is_none()) {
        return Ok(CodeCheck::Wrong);
    }
    let checked = check(store, keys, account_id, code, client, now).await?;
    if checked.step().is_some() {
        store.people().remove_second_factor(account_id, checked.step(), now, client.by).await?;
    }
    Ok(checked)
}
