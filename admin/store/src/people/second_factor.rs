//! The second factor of an account: an encrypted secret, the time step of the last code, and the digests of the recovery codes.

use carillon_scheduler::AuditAction;
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::error::{Error, Result};
use crate::store::Store;

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

impl Store {
    pub async fn second_factor(&self, account_id: i64) -> Result<Option<SecondFactor>> {
        let text = "SELECT totp_secret, totp_since FROM account WHERE id = ? AND totp_secret IS NOT NULL";
        self.one(&self.read, text, values![account_id]).await
    }

    /// Keeps a secret that a code must confirm before it counts. False: the account has a second factor already.
    pub async fn propose_second_factor(&self, account_id: i64, sealed_secret: &str) -> Result<bool> {
        let text = "UPDATE account SET totp_secret = ?, totp_step = NULL WHERE id = ? AND totp_since IS NULL";
        Ok(self.execute(&self.changes, text, values![sealed_secret, account_id]).await? > 0)
    }

    /// Lets the proposed secret count from now on. `step`: of the code that has confirmed it, which is used up by that. False: it is
    /// not this secret any more, or it counts already.
    pub async fn confirm_second_factor(
        &self,
        account_id: i64,
        (sealed_secret, step): (&str, i64),
        recovery_hashes: &[String],
        now: i64,
        actor: &Actor,
    ) -> Result<bool> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let text = "UPDATE account SET totp_since = ?, totp_step = ?, updated_at = ? \
                    WHERE id = ? AND totp_secret = ? AND totp_since IS NULL";
        if self.execute(&tx, text, values![now, step, now, account_id, sealed_secret]).await? == 0 {
            return Ok(false);
        }
        self.execute(&tx, "DELETE FROM recovery_code WHERE account_id = ?", values![account_id]).await?;
        let rows = recovery_hashes.iter().map(|hash| values![account_id, hash.as_str()]).collect();
        self.insert_rows(&tx, "recovery_code", "account_id, code_hash", rows).await?;
        let entry = AuditEntry::new(
            actor,
            now,
            AuditAction::Update,
            AuditObject::account(account_id),
            json!({"before": {"second_factor": false}, "after": {"second_factor": true}}),
        );
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Uses up the codes of a time step and of those before it. False: one of them was used already.
    pub async fn use_totp_step(&self, account_id: i64, step: i64) -> Result<bool> {
        let text = "UPDATE account SET totp_step = ? WHERE id = ? AND totp_since IS NOT NULL AND (totp_step IS NULL OR totp_step < ?)";
        Ok(self.execute(&self.changes, text, values![step, account_id, step]).await? > 0)
    }

    /// Uses up a recovery code. False: the account has no such code.
    pub async fn use_recovery_code(&self, account_id: i64, hash: &str) -> Result<bool> {
        let text = "DELETE FROM recovery_code WHERE account_id = ? AND code_hash = ?";
        Ok(self.execute(&self.changes, text, values![account_id, hash]).await? > 0)
    }

    /// How many recovery codes are left.
    pub async fn recovery_codes(&self, account_id: i64) -> Result<i64> {
        let text = "SELECT COUNT(*) FROM recovery_code WHERE account_id = ?";
        let count: Option<i64> = self.tuple(&self.read, text, values![account_id]).await?;
        Ok(count.unwrap_or(0))
    }

    /// Removes the second factor; sessions go on.
    ///
    /// # Errors
    /// `Missing`: the account has none.
    pub async fn remove_second_factor(&self, account_id: i64, now: i64, actor: &Actor) -> Result<()> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let text = "UPDATE account SET totp_secret = NULL, totp_since = NULL, totp_step = NULL, updated_at = ? \
                    WHERE id = ? AND totp_since IS NOT NULL";
        if self.execute(&tx, text, values![now, account_id]).await? == 0 {
            return Err(Error::Missing("the second factor".to_owned()));
        }
        self.execute(&tx, "DELETE FROM recovery_code WHERE account_id = ?", values![account_id]).await?;
        let detail = json!({"before": {"second_factor": true}, "after": {"second_factor": false}});
        let entry = AuditEntry::new(actor, now, AuditAction::Update, AuditObject::account(account_id), detail);
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        Ok(tx.commit().await?)
    }
}
