//! The second factor of an account: an encrypted secret, the time step of the last code, and the digests of the recovery codes.

use carillon_scheduler::AuditAction;
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::error::{Error, Result};
use crate::people::accounts::NO_RESET_LINK;
use crate::people::sessions::SecondStep;
use crate::views::PeopleStore;

/// How long a secret that was shown can be confirmed.
const PROPOSAL_MS: i64 = 15 * 60_000;

/// A secret that a code has confirmed.
pub struct ConfirmedFactor<'a> {
    pub sealed_secret: &'a str,
    /// The time step of the code, which is used up by that.
    pub step: i64,
    pub recovery_hashes: &'a [String],
}

/// What is stored of a second factor.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct SecondFactor {
    /// Encrypted.
    #[sea_orm(from_alias = "totp_secret")]
    pub sealed_secret: String,
    /// Since when a code is asked for. None: no code has confirmed the secret yet.
    #[sea_orm(from_alias = "totp_since")]
    pub since: Option<i64>,
}

impl PeopleStore<'_> {
    pub async fn second_factor(self, account_id: i64) -> Result<Option<SecondFactor>> {
        let text = "SELECT totp_secret, totp_since FROM account WHERE id = ? AND totp_secret IS NOT NULL";
        self.one(&self.read, text, values![account_id]).await
    }

    /// Keeps a secret that was shown in a session, in which a code must confirm it before it counts. False: the account has a second
    /// factor already.
    pub async fn propose_second_factor(
        self,
        (account_id, session_hash): (i64, &str),
        sealed_secret: &str,
        now: i64,
    ) -> Result<bool> {
        let text = "UPDATE account SET totp_secret = ?, totp_step = NULL, totp_session = ?, totp_proposed_at = ? \
                    WHERE id = ? AND totp_since IS NULL";
        let values = values![sealed_secret, session_hash, now, account_id];
        Ok(self.execute(&self.changes, text, values).await? > 0)
    }

    /// The secret that was shown in this session, while it can be confirmed.
    pub async fn proposed_factor(
        self,
        (account_id, session_hash): (i64, &str),
        now: i64,
    ) -> Result<Option<SecondFactor>> {
        let text = "SELECT totp_secret, totp_since FROM account WHERE id = ? AND totp_since IS NULL \
                    AND totp_session = ? AND totp_proposed_at > ?";
        self.one(&self.read, text, values![account_id, session_hash, now - PROPOSAL_MS]).await
    }

    /// Lets the secret that was shown in this session count from now on, and ends the other sessions of the account, which have given
    /// no code. False: it is not this secret any more, it was shown too long ago, or it counts already.
    pub async fn confirm_second_factor(
        self,
        (account_id, session_hash): (i64, &str),
        factor: &ConfirmedFactor<'_>,
        now: i64,
        actor: &Actor,
    ) -> Result<bool> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!(
            "UPDATE account SET totp_since = ?, totp_step = ?, totp_session = NULL, totp_proposed_at = NULL, {NO_RESET_LINK}, \
                    credentials = credentials + 1, updated_at = ? WHERE id = ? AND totp_secret = ? AND totp_since IS NULL \
                    AND totp_session = ? AND totp_proposed_at > ?"
        );
        let until = now - PROPOSAL_MS;
        let values = values![now, factor.step, now, account_id, factor.sealed_secret, session_hash, until];
        if self.execute(&tx, &text, values).await? == 0 {
            return Ok(false);
        }
        let text = "DELETE FROM session WHERE account_id = ? AND id_hash <> ?";
        let sessions = self.execute(&tx, text, values![account_id, session_hash]).await?;
        self.execute(&tx, "DELETE FROM recovery_code WHERE account_id = ?", values![account_id]).await?;
        let rows = factor.recovery_hashes.iter().map(|hash| values![account_id, hash.as_str()]).collect();
        self.insert_rows(&tx, "recovery_code", "account_id, code_hash", rows).await?;
        let detail =
            json!({"before": {"second_factor": false}, "after": {"second_factor": true}, "ended_sessions": sessions});
        audit.commit(tx, AuditAction::Update, AuditObject::account(account_id), detail).await?;
        Ok(true)
    }

    /// Uses up the codes of a time step and of those before it. False: one of them was used already.
    pub async fn use_totp_step(self, account_id: i64, step: i64) -> Result<bool> {
        let text = "UPDATE account SET totp_step = ? WHERE id = ? AND totp_since IS NOT NULL AND (totp_step IS NULL OR totp_step < ?)";
        Ok(self.execute(&self.changes, text, values![step, account_id, step]).await? > 0)
    }

    /// Uses up a recovery code. False: the account has no such code.
    pub async fn use_recovery_code(self, account_id: i64, hash: &str) -> Result<bool> {
        let text = "DELETE FROM recovery_code WHERE account_id = ? AND code_hash = ?";
        Ok(self.execute(&self.changes, text, values![account_id, hash]).await? > 0)
    }

    /// How many recovery codes are left.
    pub async fn recovery_codes(self, account_id: i64) -> Result<i64> {
        let text = "SELECT COUNT(*) FROM recovery_code WHERE account_id = ?";
        let count: Option<i64> = self.tuple(&self.read, text, values![account_id]).await?;
        Ok(count.unwrap_or(0))
    }

    /// Removes the second factor; sessions go on. `by`: what its owner has sent for it.
    ///
    /// # Errors
    /// `Missing`: the account has none.
    pub async fn remove_second_factor(
        self,
        account_id: i64,
        by: Option<SecondStep>,
        now: i64,
        actor: &Actor,
    ) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!(
            "UPDATE account SET totp_secret = NULL, totp_since = NULL, totp_step = NULL, {NO_RESET_LINK}, \
             credentials = credentials + 1, updated_at = ? WHERE id = ? AND totp_since IS NOT NULL"
        );
        if self.execute(&tx, &text, values![now, account_id]).await? == 0 {
            return Err(Error::Missing("the second factor".to_owned()));
        }
        self.execute(&tx, "DELETE FROM recovery_code WHERE account_id = ?", values![account_id]).await?;
        let mut detail = json!({"before": {"second_factor": true}, "after": {"second_factor": false}});
        if let Some(by) = by {
            detail["by"] = json!(by);
        }
        audit.commit(tx, AuditAction::Update, AuditObject::account(account_id), detail).await
    }
}
