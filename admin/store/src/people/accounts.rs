//! Accounts of people, and the one-time secret that makes the first of them.

use std::sync::atomic::Ordering;

use sea_orm::QueryResult;

use crate::db::ids;
use crate::{Error, Result, Store};

/// Somebody who may sign in to the console.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// False: nobody can sign in yet, and the console offers nothing but setting up.
    pub async fn has_accounts(&self) -> Result<bool> {
        // Accounts are never removed.
        if self.has_accounts.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let row = self.one(&self.read, "SELECT id FROM account LIMIT 1", vec![]).await?;
        self.has_accounts.store(row.is_some(), Ordering::Relaxed);
        Ok(row.is_some())
    }

    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>> {
        let row = self
            .one(&self.read, "SELECT id, name, password_hash, role FROM account WHERE name = ?", vec![name.into()])
            .await?;
        row.map(|row| account(&row)).transpose()
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
        self.execute(
            &tx,
            "UPDATE account SET password_hash = ?, updated_at = ? WHERE id = ?",
            vec![password_hash.into(), now.into(), account_id.into()],
        )
        .await?;
        self.execute(&tx, "DELETE FROM session WHERE account_id = ?", vec![account_id.into()]).await?;
        Ok(tx.commit().await?)
    }

    /// The same password under newer parameters: its sessions stay.
    pub async fn rehash_password(&self, account_id: i64, old: &str, new: &str) -> Result<()> {
        self.execute(
            &self.changes,
            "UPDATE account SET password_hash = ? WHERE id = ? AND password_hash = ?",
            vec![new.into(), account_id.into(), old.into()],
        )
        .await?;
        Ok(())
    }

    /// Keeps the hash of a new set-up secret; an older one is worth nothing from now on.
    pub async fn put_setup_secret(&self, hash: &str, expires_at: i64) -> Result<()> {
        let value = format!("{hash}:{expires_at}");
        let updated = self
            .execute(
                &self.changes,
                "UPDATE setting SET value = ? WHERE name = ?",
                vec![value.clone().into(), SETUP.into()],
            )
            .await?;
        if updated.rows_affected() == 0 {
            self.execute(
                &self.changes,
                "INSERT INTO setting (name, value) VALUES (?, ?)",
                vec![SETUP.into(), value.into()],
            )
            .await?;
        }
        Ok(())
    }

    /// Hash and end of the set-up secret, if there is one.
    pub async fn setup_secret(&self) -> Result<Option<(String, i64)>> {
        let row = self.one(&self.read, "SELECT value FROM setting WHERE name = ?", vec![SETUP.into()]).await?;
        let Some(row) = row else { return Ok(None) };
        let value: String = row.try_get_by_index(0)?;
        let (hash, end) = value.split_once(':').ok_or_else(|| Error::Corrupt("set-up secret".into()))?;
        let end = end.parse().map_err(|_| Error::Corrupt("set-up secret".into()))?;
        Ok(Some((hash.to_owned(), end)))
    }

    /// Makes the first account and uses the secret up. None: somebody else was quicker, on whatever node.
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
        let used = self
            .execute(
                &tx,
                "DELETE FROM setting WHERE name = ? AND value = ?",
                vec![SETUP.into(), format!("{}:{}", secret.0, secret.1).into()],
            )
            .await?;
        if used.rows_affected() == 0 {
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
        let inserted = self
            .execute(
                db,
                "INSERT INTO account (id, name, password_hash, role, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
                vec![id.into(), name.into(), password_hash.into(), role.into(), now.into(), now.into()],
            )
            .await;
        match inserted {
            Err(error) if error.is_unique_violation() => Err(Error::Taken(format!("the name {name:?}"))),
            other => other.map(|_| ()),
        }
    }
}

fn account(row: &QueryResult) -> Result<Account> {
    Ok(Account {
        id: row.try_get_by_index(0)?,
        name: row.try_get_by_index(1)?,
        password_hash: row.try_get_by_index(2)?,
        role: row.try_get_by_index(3)?,
    })
}
