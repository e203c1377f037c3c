//! Whether a code is right. Attempts are counted as those of passwords are, and a code counts once.

use carillon_scheduler::{AuditAction, Millis};
use carillon_store::people::sessions::SecondStep;
use carillon_store::people::throttle::{Attempt, Subject};
use carillon_store::{AuditObject, Store};
use serde_json::json;

use crate::device;
use crate::password::Error;
use crate::second_factor::totp::Secret;
use crate::secret::hash;
use crate::secret_keys::SecretKeys;
use crate::sign_in::{self, Client};

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeCheck {
    Right {
        /// Number of recovery codes that are left, if the code was one of them.
        recovery_left: Option<i64>,
    },
    /// It is no code of now, or was used already.
    Wrong,
    /// There were too many failed attempts.
    Throttled { until_at: Millis },
}

impl CodeCheck {
    /// What was sent, if it was right.
    pub fn step(self) -> Option<SecondStep> {
        match self {
            Self::Right { recovery_left: None } => Some(SecondStep::Code),
            Self::Right { recovery_left: Some(_) } => Some(SecondStep::RecoveryCode),
            Self::Wrong | Self::Throttled { .. } => None,
        }
    }
}

/// Where the secret of an account may be decrypted: nowhere else.
pub(super) fn context(account_id: i64) -> String {
    format!("account {account_id} totp")
}

/// Checks a code of the app, or a recovery code, and uses it up. A refusal is in the audit.
pub async fn check(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    sent: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<CodeCheck, Error> {
    let result = attempt(store, keys, account_id, sent, client, now).await?;
    let why = match result {
        CodeCheck::Right { .. } => return Ok(result),
        CodeCheck::Wrong => "wrong code",
        CodeCheck::Throttled { .. } => "too many wrong codes",
    };
    let object = AuditObject::account(account_id);
    store.audit().record_refusal(client.by, AuditAction::RefuseSignIn, object, json!({"reason": why}), now).await?;
    Ok(result)
}

async fn attempt(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    sent: &str,
    client: Client<'_>,
    now: Millis,
) -> Result<CodeCheck, Error> {
    let subjects = subjects(store, account_id, client).await?;
    if let Attempt::Refused { until_at } = store.people().begin_attempt(&subjects, now).await? {
        return Ok(CodeCheck::Throttled { until_at });
    }
    let sent: String = sent.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
    let is_code = sent.len() == 6 && sent.bytes().all(|byte| byte.is_ascii_digit());
    let is_right = match is_code {
        true => is_code_of_now(store, keys, account_id, &sent, now).await?,
        false => store.people().use_recovery_code(account_id, &hash(&sent.to_uppercase())).await?,
    };
    if !is_right {
        return Ok(CodeCheck::Wrong);
    }
    store.people().end_attempt(&subjects).await?;
    let recovery_left = match is_code {
        true => None,
        false => Some(store.people().recovery_codes(account_id).await?),
    };
    Ok(CodeCheck::Right { recovery_left })
}

/// What the attempt is counted by: the account and the source, or the browser alone if it has signed in with a code before. Not the
/// counts of passwords: those end with each right password.
async fn subjects(store: &Store, account_id: i64, client: Client<'_>) -> Result<Vec<Subject>, Error> {
    if let Some(proof) = client.proof
        && let Some(account) = store.people().account(account_id).await?
        && let Some(browser) = device::subject(proof, &account)
    {
        return Ok(vec![Subject::Single(format!("code:{browser}"))]);
    }
    Ok(vec![Subject::Single(format!("code:{account_id}")), sign_in::source_subject(&client.by.source)])
}

async fn is_code_of_now(
    store: &Store,
    keys: &SecretKeys,
    account_id: i64,
    code: &str,
    now: Millis,
) -> Result<bool, Error> {
    let Some(stored) = store.people().second_factor(account_id).await?.filter(|factor| factor.since.is_some()) else {
        return Ok(false);
    };
    let Some(secret) = keys.open(&context(account_id), &stored.sealed_secret) else {
        tracing::error!(
            account.id = account_id,
            "the second factor of an account cannot be decrypted: --secret-key is not the key that encrypted it; a recovery code works"
        );
        return Ok(false);
    };
    match Secret::from_text(secret).step_of(code, now) {
        Some(step) => Ok(store.people().use_totp_step(account_id, step).await?),
        None => Ok(false),
    }
}
