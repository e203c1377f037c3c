//! Sessions of the console. Only the hash of a session's id is stored: who reads the table cannot sign in with it.

use carillon_scheduler::AuditAction;
use sea_orm::FromQueryResult;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::sql::rows::WordOrDefault;
use crate::error::Result;
use crate::people::accounts::NO_RESET_LINK;
use crate::people::grants::Grants;
use crate::views::PeopleStore;

row_struct! {
    /// A session that has not ended, with its account.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Session {
        pub account_id: i64,
        pub account: String,
        pub grants: Grants as WordOrDefault,
        pub csrf: String,
        pub created_at: i64,
        pub seen_at: i64,
        /// The OpenID provider that the account signs in with.
        pub issuer: Option<String>,
        /// Since when the account has a second factor.
        pub totp_since: Option<i64>,
        /// The language that the account has chosen.
        pub language: Option<String>,
        /// The number of the account's credentials.
        pub credentials: i64,
    }
}

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

/// How a person has shown to be the owner of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignInMethod {
    Password,
    ResetLink,
    Provider,
    SetUp,
    /// The password was changed, and its owner stays signed in.
    NewPassword,
    /// A personal token was sent as the password.
    Token,
}

/// What was sent after the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecondStep {
    Code,
    RecoveryCode,
}

/// What an administrator has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedAccess {
    pub sessions: u64,
    pub tokens: usize,
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
    /// The number of the account's credentials when its owner was checked.
    pub credentials: i64,
    pub method: SignInMethod,
    pub second_step: Option<SecondStep>,
}

impl PeopleStore<'_> {
    /// Opens a session from the actor's address instead of an older one of the same browser, with its audit entry, and clears away
    /// those that have ended. False: the account signs in otherwise by now, or not at all.
    pub async fn open_session(
        self,
        new: &NewSession<'_>,
        old_hash: Option<&str>,
        idle_ms: i64,
        actor: &Actor,
    ) -> Result<bool> {
        let cut = |text: &str, chars| text.chars().filter(|c| !c.is_control()).take(chars).collect::<String>();
        let (tx, audit) = self.audit().begin_audited(actor, new.now).await?;
        if !self.has_credentials(&tx, new.account_id, new.credentials).await? {
            return Ok(false);
        }
        let text = "DELETE FROM session WHERE expires_at <= ? OR seen_at <= ? OR id_hash = ?";
        self.execute(&tx, text, values![new.now, new.now - idle_ms, old_hash.unwrap_or_default()]).await?;
        let NewSession { id_hash, account_id, csrf, now, expires_at, .. } = *new;
        let (source, agent) = (cut(&actor.source, 64), cut(new.agent, 255));
        let row = named![id_hash, account_id, csrf, created_at: now, seen_at: now, expires_at, source, agent];
        self.insert_row(&tx, "session", row).await?;
        let account = AuditObject::account(new.account_id);
        let mut detail = json!({"method": new.method});
        if let Some(step) = new.second_step {
            detail["second_factor"] = json!(step);
        }
        audit.commit(tx, AuditAction::SignIn, account, detail).await?;
        Ok(true)
    }

    /// The session, unless it has ended by `now`: too long idle, or too old, or its account is disabled.
    pub async fn session(self, id_hash: &str, now: i64, idle_ms: i64) -> Result<Option<Session>> {
        let text = "SELECT s.account_id, a.name AS account, COALESCE(a.grants, '') AS grants, s.csrf, s.created_at, \
                    s.seen_at, a.issuer, a.totp_since, a.language, a.credentials FROM session s JOIN account a ON a.id = s.account_id \
                    WHERE s.id_hash = ? AND s.expires_at > ? AND s.seen_at > ? AND a.disabled_at IS NULL";
        self.one(&self.read, text, values![id_hash, now, now - idle_ms]).await
    }

    /// The sessions of an account that have not ended, the latest used first.
    pub async fn sessions_of(self, account_id: i64, now: i64, idle_ms: i64) -> Result<Vec<SessionEntry>> {
        let text = "SELECT id_hash, created_at, seen_at, expires_at, source, agent FROM session \
                    WHERE account_id = ? AND expires_at > ? AND seen_at > ? ORDER BY seen_at DESC, created_at DESC LIMIT 200";
        self.all(&self.read, text, values![account_id, now, now - idle_ms]).await
    }

    /// Its person did something.
    pub async fn touch_session(self, id_hash: &str, now: i64) -> Result<()> {
        let text = "UPDATE session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?";
        self.execute(&self.changes, text, values![now, id_hash, now]).await.map(drop)
    }

    /// A person signs out.
    pub async fn sign_out(self, account_id: i64, id_hash: &str, now: i64, actor: &Actor) -> Result<u64> {
        self.close_sessions((account_id, "= ?", id_hash), AuditAction::SignOut, now, actor).await
    }

    /// One session of an account. False: the account has no such session.
    pub async fn close_session_of(self, account_id: i64, id_hash: &str, now: i64, actor: &Actor) -> Result<bool> {
        let which = (account_id, "= ?", id_hash);
        Ok(self.close_sessions(which, AuditAction::EndSessions, now, actor).await? > 0)
    }

    /// All sessions of an account but one. How many they were.
    pub async fn close_other_sessions(self, account_id: i64, kept: &str, now: i64, actor: &Actor) -> Result<u64> {
        self.close_sessions((account_id, "<> ?", kept), AuditAction::EndSessions, now, actor).await
    }

    /// All sessions and tokens of an account. A sign-in that has begun ends with them, and so does a link for a new password.
    pub async fn end_access(self, account_id: i64, now: i64, actor: &Actor) -> Result<EndedAccess> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!("UPDATE account SET credentials = credentials + 1, {NO_RESET_LINK} WHERE id = ?");
        self.execute(&tx, &text, values![account_id]).await?;
        let text = "DELETE FROM session WHERE account_id = ?";
        let sessions = self.execute(&tx, text, values![account_id]).await?;
        let mut detail = json!({"sessions": sessions});
        let tokens = self.revoke_tokens_of(&tx, account_id, &mut detail).await?;
        if sessions > 0 || tokens > 0 {
            audit.write(&tx, AuditAction::EndSessions, AuditObject::account(account_id), detail).await?;
        }
        tx.commit().await?;
        Ok(EndedAccess { sessions, tokens })
    }

    /// Ends the sessions of an account whose hash compares so; without one, there is no audit entry either.
    async fn close_sessions(
        self,
        (account_id, compared, id_hash): (i64, &str, &str),
        action: AuditAction,
        now: i64,
        actor: &Actor,
    ) -> Result<u64> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!("DELETE FROM session WHERE account_id = ? AND id_hash {compared}");
        let count = self.execute(&tx, &text, values![account_id, id_hash]).await?;
        if count > 0 {
            let detail = json!({"sessions": count});
            audit.commit(tx, action, AuditObject::account(account_id), detail).await?;
        }
        Ok(count)
    }
}
