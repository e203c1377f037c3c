//! Accounts of people, and the one-time secret that makes the first of them.

use std::sync::atomic::Ordering;

use sea_orm::FromQueryResult;

use crate::db::ids;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::store::Store;

/// Somebody who may sign in to the console.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Account {
    pub id: i64,
    pub name: String,
    /// A PHC string; holds algorithm, parameters and salt.
    pub password_hash: String,
    pub role: String,
}

/// The row of `setting` that holds the hash of the set-up secret and the moment at which it ends.
const SETUP: &str = "setup_secret";

impl Store {
    /// False: there is no account to sign in with yet, and the console offers nothing but setting up.
    pub async fn has_accounts(&self) -> Result<bool> {
        // Accounts are never removed.
        if self.has_accounts.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let first: Option<i64> = self.tuple(&self.read, "SELECT id FROM account LIMIT 1", vec![]).await?;
        self.has_accounts.store(first.is_some(), Ordering::Relaxed);
        Ok(first.is_some())
    }

    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>> {
        let text = "SELECT id, name, password_hash, role FROM account WHERE name = ?";
        self.one(&self.read, text, values![name]).await
    }

    /// Makes an account; [`Error::Taken`] if the name is.
    pub async fn create_account(&self, name: &str, password_hash: &str, role: &str, now: i64) -> Result<i64> {
        let id = self.take_id(&ids::ROW).await?;
        self.insert_account(&self.changes, id, name, password_hash, role, now).await?;
        Ok(id)
    }

    /// Sets a password and ends every session of the account, on all nodes.
    pub async fn set_password(&self, account_id: i64, password_hash: &str, now: i64) -> Result<()> {
        let tx = self.begin_change().await?;
        let text = "UPDATE account SET password_hash = ?, updated_at = ? WHERE id = ?";
        self.execute(&tx, text, values![password_hash, now, account_id]).await?;
        self.execute(&tx, "DELETE FROM session WHERE account_id = ?", values![account_id]).await?;
        Ok(tx.commit().await?)
    }

    /// The same password under newer parameters: its sessions stay.
    pub async fn rehash_password(&self, account_id: i64, old: &str, new: &str) -> Result<()> {
        let text = "UPDATE account SET password_hash = ? WHERE id = ? AND password_hash = ?";
        self.execute(&self.changes, text, values![new, account_id, old]).await?;
        Ok(())
    }

    /// Keeps the hash of a new set-up secret; an older one is worth nothing from now on.
    pub async fn put_setup_secret(&self, hash: &str, expires_at: i64) -> Result<()> {
        let value = format!("{hash}:{expires_at}");
        let text = "UPDATE setting SET value = ? WHERE name = ?";
        if self.execute(&self.changes, text, values![value.as_str(), SETUP]).await? == 0 {
            self.insert_rows(&self.changes, "setting", "name, value", vec![values![SETUP, value]]).await?;
        }
        Ok(())
    }

    /// Hash and end of the set-up secret, if there is one.
    pub async fn setup_secret(&self) -> Result<Option<(String, i64)>> {
        let Some(value) = self.setting(&self.read, SETUP).await? else { return Ok(None) };
        let (hash, end) = value.split_once(':').ok_or_else(|| Error::Corrupt("set-up secret".into()))?;
        let end = end.parse().map_err(|_| Error::Corrupt("set-up secret".into()))?;
        Ok(Some((hash.to_owned(), end)))
    }

    /// Makes the first account and uses the secret up. None: another request was faster, on this node or another.
    pub async fn set_up(
        &self,
        secret: &(String, i64),
        name: &str,
        password_hash: &str,
        role: &str,
        now: i64,
    ) -> Result<Option<i64>> {
        let id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let text = "DELETE FROM setting WHERE name = ? AND value = ?";
        if self.execute(&tx, text, values![SETUP, format!("{}:{}", secret.0, secret.1)]).await? == 0 {
            return Ok(None);
        }
        self.insert_account(&tx, id, name, password_hash, role, now).await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    async fn insert_account(
        &self,
        db: &impl sea_orm::ConnectionTrait,
        id: i64,
        name: &str,
        password_hash: &str,
        role: &str,
        now: i64,
    ) -> Result<()> {
        let columns = "id, name, password_hash, role, created_at, updated_at";
        let row = values![id, name, password_hash, role, now, now];
        let inserted = self.insert_rows(db, "account", columns, vec![row]).await;
        inserted.map_err(|error| error.or_taken(UniqueKey::AccountName, name))
    }
}
