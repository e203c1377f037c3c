//! Personal tokens of the API. Only their digests are stored.

use carillon_scheduler::AuditAction;
use serde_json::json;

use crate::audit::{Actor, AuditEntry};
use crate::db::ids;
use crate::db::sql::rows::WordOrDefault;
use crate::error::{Error, Result};
use crate::people::grants::Grants;
use crate::store::Store;

/// A token as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    pub id: i64,
    pub name: String,
    pub grants: Grants,
    pub created_at: i64,
    pub expires_at: i64,
    pub used_at: Option<i64>,
    pub used_from: Option<String>,
}

from_row!(ApiToken { id, name, grants: WordOrDefault, created_at, expires_at, used_at, used_from });

/// A token to be stored.
pub struct NewApiToken<'a> {
    pub account_id: i64,
    pub name: &'a str,
    pub token_hash: &'a str,
    pub grants: &'a Grants,
    pub now: i64,
    pub expires_at: i64,
}

/// A valid token with its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOwner {
    pub id: i64,
    pub account_id: i64,
    pub account: String,
    /// What the token allows.
    pub grants: Grants,
    /// What its account may do.
    pub account_grants: Grants,
    pub used_at: Option<i64>,
    pub used_from: Option<String>,
}

from_row!(TokenOwner {
    id,
    account_id,
    account,
    grants: WordOrDefault,
    account_grants: WordOrDefault,
    used_at,
    used_from,
});

/// Tokens of one account.
pub const MAX_TOKENS: i64 = 50;

impl Store {
    /// # Errors
    /// `InUse`: the account has [`MAX_TOKENS`] already.
    pub async fn create_token(&self, new: &NewApiToken<'_>, actor: &Actor) -> Result<i64> {
        let ids = self.take_ids(&ids::ROW, 2).await?;
        let tx = self.begin_change().await?;
        let text = "SELECT COUNT(*) FROM api_token WHERE account_id = ?";
        let count: Option<i64> = self.tuple(&tx, text, values![new.account_id]).await?;
        if count.unwrap_or(0) >= MAX_TOKENS {
            return Err(Error::InUse(format!("an account may have {MAX_TOKENS} tokens; revoke one first")));
        }
        let columns = "id, account_id, name, token_hash, grants, created_at, expires_at";
        let grants = new.grants.to_string();
        let row = values![ids[0], new.account_id, new.name, new.token_hash, grants.as_str(), new.now, new.expires_at];
        self.insert_rows(&tx, "api_token", columns, vec![row]).await?;
        let detail = json!({"after": {"name": new.name, "grants": grants, "expires_at": new.expires_at}});
        let entry = AuditEntry::new(actor, new.now, AuditAction::Create, ("api_token", ids[0]), detail);
        self.audit(&tx, &[entry], &ids[1..]).await?;
        tx.commit().await?;
        Ok(ids[0])
    }

    /// The tokens of an account, newest first.
    pub async fn tokens_of(&self, account_id: i64) -> Result<Vec<ApiToken>> {
        let text = "SELECT id, name, grants, created_at, expires_at, used_at, used_from FROM api_token \
                    WHERE account_id = ? ORDER BY id DESC";
        self.all(&self.read, text, values![account_id]).await
    }

    /// Ends a token of the account at once. False: it has no such token.
    pub async fn revoke_token(&self, account_id: i64, id: i64, now: i64, actor: &Actor) -> Result<bool> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let text = "DELETE FROM api_token WHERE account_id = ? AND id = ?";
        if self.execute(&tx, text, values![account_id, id]).await? == 0 {
            return Ok(false);
        }
        let entry = AuditEntry::new(actor, now, AuditAction::Delete, ("api_token", id), json!({}));
        self.audit(&tx, &[entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The token with this digest, if it is valid by `now` and its account is enabled.
    pub async fn token_owner(&self, token_hash: &str, now: i64) -> Result<Option<TokenOwner>> {
        let text = "SELECT t.id, t.account_id, a.name AS account, t.grants, COALESCE(a.grants, '') AS account_grants, t.used_at, \
                    t.used_from FROM api_token t JOIN account a ON a.id = t.account_id \
                    WHERE t.token_hash = ? AND t.expires_at > ? AND a.disabled_at IS NULL";
        self.one(&self.read, text, values![token_hash, now]).await
    }

    /// It was used. The caller limits how often this is written.
    pub async fn touch_token(&self, id: i64, source: &str, now: i64) -> Result<()> {
        let source: String = source.chars().take(64).collect();
        let text = "UPDATE api_token SET used_at = ?, used_from = ? WHERE id = ?";
        self.execute(&self.changes, text, values![now, source, id]).await?;
        Ok(())
    }
}
