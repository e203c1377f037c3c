//! Sessions of the console. Only the hash of a session's id is stored: who reads the table cannot sign in with it.

use crate::{Result, Store};

/// A session that has not ended, with its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub account_id: i64,
    pub account: String,
    pub role: String,
    pub csrf: String,
    pub seen_at: i64,
}

/// A session to be opened.
pub struct NewSession<'a> {
    pub id_hash: &'a str,
    pub account_id: i64,
    pub csrf: &'a str,
    pub now: i64,
    pub expires_at: i64,
}

impl Store {
    /// Opens a session, and clears away those that have ended.
    pub async fn open_session(&self, new: &NewSession<'_>, idle_ms: i64) -> Result<()> {
        let tx = self.begin_change().await?;
        self.execute(
            &tx,
            "DELETE FROM session WHERE expires_at <= ? OR seen_at <= ?",
            vec![new.now.into(), (new.now - idle_ms).into()],
        )
        .await?;
        self.execute(
            &tx,
            "INSERT INTO session (id_hash, account_id, csrf, created_at, seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
            vec![
                new.id_hash.into(),
                new.account_id.into(),
                new.csrf.into(),
                new.now.into(),
                new.now.into(),
                new.expires_at.into(),
            ],
        )
        .await?;
        Ok(tx.commit().await?)
    }

    /// The session, unless it has ended by `now`: too long idle, or too old.
    pub async fn session(&self, id_hash: &str, now: i64, idle_ms: i64) -> Result<Option<Session>> {
        let row = self
            .one(
                &self.read,
                "SELECT s.account_id, a.name, a.role, s.csrf, s.seen_at FROM session s JOIN account a ON a.id = s.account_id \
                 WHERE s.id_hash = ? AND s.expires_at > ? AND s.seen_at > ?",
                vec![id_hash.into(), now.into(), (now - idle_ms).into()],
            )
            .await?;
        row.map(|row| {
            Ok(Session {
                account_id: row.try_get_by_index(0)?,
                account: row.try_get_by_index(1)?,
                role: row.try_get_by_index(2)?,
                csrf: row.try_get_by_index(3)?,
                seen_at: row.try_get_by_index(4)?,
            })
        })
        .transpose()
    }

    /// Its person did something.
    pub async fn touch_session(&self, id_hash: &str, now: i64) -> Result<()> {
        self.execute(
            &self.changes,
            "UPDATE session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?",
            vec![now.into(), id_hash.into(), now.into()],
        )
        .await?;
        Ok(())
    }

    pub async fn close_session(&self, id_hash: &str) -> Result<()> {
        self.execute(&self.changes, "DELETE FROM session WHERE id_hash = ?", vec![id_hash.into()]).await?;
        Ok(())
    }
}
