//! Sessions of the console. Only the hash of a session's id is stored: who reads the table cannot sign in with it.

use sea_orm::FromQueryResult;

use crate::error::Result;
use crate::store::Store;

/// A session that has not ended, with its account.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
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
        let text = "DELETE FROM session WHERE expires_at <= ? OR seen_at <= ?";
        self.execute(&tx, text, values![new.now, new.now - idle_ms]).await?;
        let columns = "id_hash, account_id, csrf, created_at, seen_at, expires_at";
        let row = values![new.id_hash, new.account_id, new.csrf, new.now, new.now, new.expires_at];
        self.insert_rows(&tx, "session", columns, vec![row]).await?;
        Ok(tx.commit().await?)
    }

    /// The session, unless it has ended by `now`: too long idle, or too old.
    pub async fn session(&self, id_hash: &str, now: i64, idle_ms: i64) -> Result<Option<Session>> {
        let text = "SELECT s.account_id, a.name AS account, a.role, s.csrf, s.seen_at FROM session s \
                    JOIN account a ON a.id = s.account_id WHERE s.id_hash = ? AND s.expires_at > ? AND s.seen_at > ?";
        self.one(&self.read, text, values![id_hash, now, now - idle_ms]).await
    }

    /// Its person did something.
    pub async fn touch_session(&self, id_hash: &str, now: i64) -> Result<()> {
        let text = "UPDATE session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?";
        self.execute(&self.changes, text, values![now, id_hash, now]).await?;
        Ok(())
    }

    pub async fn close_session(&self, id_hash: &str) -> Result<()> {
        self.execute(&self.changes, "DELETE FROM session WHERE id_hash = ?", values![id_hash]).await?;
        Ok(())
    }
}
