//! Secrets that are used once: the one that makes the first account, and links for a new password. Only hashes are stored.

use carillon_scheduler::AuditAction;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::people::accounts::NewAccount;
use crate::people::grants::{Grants, Role};
use crate::views::PeopleStore;

/// The row of `setting` that holds the hash of the set-up secret and the moment at which it ends.
const SETUP: &str = "setup_secret";

impl PeopleStore<'_> {
    /// Keeps the hash of a new set-up secret; an older one is worth nothing from now on.
    pub async fn put_setup_secret(self, hash: &str, expires_at: i64) -> Result<()> {
        // Nodes that start together on an empty database all make the row: the last secret counts.
        retry::on_race(|| self.write_setup_secret(format!("{hash}:{expires_at}"))).await
    }

    async fn write_setup_secret(self, value: String) -> Result<()> {
        let text = "UPDATE setting SET value = ? WHERE name = ?";
        if self.execute(&self.changes, text, values![value.as_str(), SETUP]).await? == 0 {
            self.insert_rows(&self.changes, "setting", "name, value", vec![values![SETUP, value]]).await?;
        }
        Ok(())
    }

    /// Hash and end of the set-up secret, if there is one.
    pub async fn setup_secret(self) -> Result<Option<(String, i64)>> {
        let Some(value) = self.leases().setting(&self.read, SETUP).await? else { return Ok(None) };
        let (hash, end) = value.split_once(':').ok_or_else(|| Error::Corrupt("set-up secret".into()))?;
        let end = end.parse().map_err(|_| Error::Corrupt("set-up secret".into()))?;
        Ok(Some((hash.to_owned(), end)))
    }

    /// Makes the first account, an administrator of all apps, and uses the secret up. None: another request was faster, on this
    /// node or another.
    pub async fn set_up(
        self,
        secret: &(String, i64),
        name: &str,
        password_hash: &str,
        now: i64,
        actor: &Actor,
    ) -> Result<Option<i64>> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "DELETE FROM setting WHERE name = ? AND value = ?";
        if self.execute(&tx, text, values![SETUP, format!("{}:{}", secret.0, secret.1)]).await? == 0 {
            return Ok(None);
        }
        let grants = Grants::for_all(Role::Admin);
        self.insert_account(&tx, id, &NewAccount { name, password_hash, grants: &grants }, now).await?;
        let detail = json!({"after": {"name": name, "grants": grants.to_string()}});
        audit.commit(tx, AuditAction::Create, AuditObject::account(id), detail).await?;
        Ok(Some(id))
    }

    /// Keeps the hash of a link for a new password; an older one of the account is worth nothing from now on.
    ///
    /// # Errors
    /// `Missing`
    pub async fn put_reset_link(
        self,
        account_id: i64,
        hash: &str,
        expires_at: i64,
        now: i64,
        actor: &Actor,
    ) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "UPDATE account SET reset_hash = ?, reset_expires_at = ? WHERE id = ?";
        if self.execute(&tx, text, values![hash, expires_at, account_id]).await? == 0 {
            return Err(Error::Missing(format!("the user {account_id}")));
        }
        let detail = json!({"after": {"reset_link": "…", "expires_at": expires_at}});
        audit.commit(tx, AuditAction::Update, AuditObject::account(account_id), detail).await
    }

    /// Id and name of the account whose link this is the hash of, while the link is valid and the account enabled.
    pub async fn account_of_reset_link(self, hash: &str, now: i64) -> Result<Option<(i64, String)>> {
        let text = "SELECT id, name FROM account WHERE reset_hash = ? AND reset_expires_at > ? AND disabled_at IS NULL";
        self.tuple(&self.read, text, values![hash, now]).await
    }

    /// Uses a link: sets the password, and ends the sessions and tokens of the account. Returns the number of its credentials; None:
    /// another request was faster, or the link has expired.
    pub async fn use_reset_link(
        self,
        account_id: i64,
        hash: &str,
        password_hash: &str,
        now: i64,
        actor: &Actor,
    ) -> Result<Option<i64>> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "UPDATE account SET password_hash = ?, reset_hash = NULL, reset_expires_at = NULL, \
                    credentials = credentials + 1, updated_at = ? \
                    WHERE id = ? AND reset_hash = ? AND reset_expires_at > ? AND disabled_at IS NULL";
        if self.execute(&tx, text, values![password_hash, now, account_id, hash, now]).await? == 0 {
            return Ok(None);
        }
        let text = "SELECT credentials FROM account WHERE id = ?";
        let credentials: Option<i64> = self.tuple(&tx, text, values![account_id]).await?;
        self.execute(&tx, "DELETE FROM session WHERE account_id = ?", values![account_id]).await?;
        let mut detail = json!({"after": {"password": "…"}, "by": "reset link"});
        self.revoke_tokens_of(&tx, account_id, &mut detail).await?;
        audit.commit(tx, AuditAction::Update, AuditObject::account(account_id), detail).await?;
        Ok(credentials)
    }
}
