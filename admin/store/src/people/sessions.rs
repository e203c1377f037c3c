//! Sessions of the console. Only the hash of a session's id is stored: who reads the table cannot sign in with it.

use carillon_scheduler::AuditAction;
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::sql::rows::WordOrDefault;
use crate::error::Result;
use crate::people::grants::Grants;
use crate::store::Store;

/// A session that has not ended, with its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub account_id: i64,
    pub account: String,
    pub grants: Grants,
    pub csrf: String,
    pub seen_at: i64,
    /// The OpenID provider that the account signs in with.
    pub issuer: Option<String>,
    /// Since when the account has a second factor.
    pub totp_since: Option<i64>,
    /// The language that the account has chosen.
    pub language: Option<String>,
}

from_row!(Session { account_id, account, grants: WordOrDefault, csrf, seen_at, issuer, totp_since, language });

/// A session as its owner sees it in a list.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct SessionEntry {
    /// The hash names the session and opens nothing.
    pub id_hash: String,
    pub created_at: i64,
    pub seen_at: i64,
    pub expires_at: i64,
    /// The address that it was opened from. None: an older version opened it.
    pub source: Option<String>,
    /// The browser, in its own words.
    pub agent: Option<String>,
}

/// A session to be opened.
pub struct NewSession<'a> {
    pub id_hash: &'a str,
    pub account_id: i64,
    pub csrf: &'a str,
    pub now: i64,
    pub expires_at: i64,
    /// At most 255 characters are kept.
    pub agent: &'a str,
}

impl Store {
    /// Opens a session from the actor's address instead of an older one of the same browser, with its audit entry, and clears away
    /// those that have ended.
    pub async fn open_session(
        &self,
        new: &NewSession<'_>,
        old_hash: Option<&str>,
        idle_ms: i64,
        actor: &Actor,
    ) -> Result<()> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let cut = |text: &str, chars| text.chars().filter(|c| !c.is_control()).take(chars).collect::<String>();
        let tx = self.begin_change().await?;
        let text = "DELETE FROM session WHERE expires_at <= ? OR seen_at <= ? OR id_hash = ?";
        self.execute(&tx, text, values![new.now, new.now - idle_ms, old_hash.unwrap_or_default()]).await?;
        let columns = "id_hash, account_id, csrf, created_at, seen_at, expires_at, source, agent";
        let (source, agent) = (cut(&actor.source, 64), cut(new.agent, 255));
        let row = values![new.id_hash, new.account_id, new.csrf, new.now, new.now, new.expires_at, source, agent];
        self.insert_rows(&tx, "session", columns, vec![row]).await?;
        let account = AuditObject::account(new.account_id);
        let entry = AuditEntry::new(actor, new.now, AuditAction::SignIn, account, json!({}));
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        Ok(tx.commit().await?)
    }

    /// The session, unless it has ended by `now`: too long idle, or too old, or its account is disabled.
    pub async fn session(&self, id_hash: &str, now: i64, idle_ms: i64) -> Result<Option<Session>> {
        let text = "SELECT s.account_id, a.name AS account, COALESCE(a.grants, '') AS grants, s.csrf, s.seen_at, \
                    a.issuer, a.totp_since, a.language FROM session s JOIN account a ON a.id = s.account_id \
                    WHERE s.id_hash = ? AND s.expires_at > ? AND s.seen_at > ? AND a.disabled_at IS NULL";
        self.one(&self.read, text, values![id_hash, now, now - idle_ms]).await
    }

    /// The sessions of an account that have not ended, the latest used first.
    pub async fn sessions_of(&self, account_id: i64, now: i64, idle_ms: i64) -> Result<Vec<SessionEntry>> {
        let text = "SELECT id_hash, created_at, seen_at, expires_at, source, agent FROM session \
                    WHERE account_id = ? AND expires_at > ? AND seen_at > ? ORDER BY seen_at DESC, created_at DESC LIMIT 200";
        self.all(&self.read, text, values![account_id, now, now - idle_ms]).await
    }

    /// Its person did something.
    pub async fn touch_session(&self, id_hash: &str, now: i64) -> Result<()> {
        let text = "UPDATE session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?";
        self.execute(&self.changes, text, values![now, id_hash, now]).await?;
        Ok(())
    }

    /// A person signs out.
    pub async fn sign_out(&self, account_id: i64, id_hash: &str, now: i64, actor: &Actor) -> Result<u64> {
        self.close_sessions((account_id, "= ?", id_hash), AuditAction::SignOut, now, actor).await
    }

    /// One session of an account. False: the account has no such session.
    pub async fn close_session_of(&self, account_id: i64, id_hash: &str, now: i64, actor: &Actor) -> Result<bool> {
        let which = (account_id, "= ?", id_hash);
        Ok(self.close_sessions(which, AuditAction::EndSessions, now, actor).await? > 0)
    }

    /// All sessions of an account but one. How many they were.
    pub async fn close_other_sessions(&self, account_id: i64, kept: &str, now: i64, actor: &Actor) -> Result<u64> {
        self.close_sessions((account_id, "<> ?", kept), AuditAction::EndSessions, now, actor).await
    }

    /// Those of an account whose hash compares so; without one, there is no audit entry either.
    async fn close_sessions(
        &self,
        (account_id, compared, id_hash): (i64, &str, &str),
        action: AuditAction,
        now: i64,
        actor: &Actor,
    ) -> Result<u64> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let text = format!("DELETE FROM session WHERE account_id = ? AND id_hash {compared}");
        let count = self.execute(&tx, &text, values![account_id, id_hash]).await?;
        if count > 0 {
            let detail = json!({"sessions": count});
            let entry = AuditEntry::new(actor, now, action, AuditObject::account(account_id), detail);
            self.audit(&tx, vec![entry], &[audit_id]).await?;
        }
        tx.commit().await?;
        Ok(count)
    }
}
