//! Personal tokens of the API. Only their digests are stored.

use carillon_scheduler::AuditAction;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::rows::WordOrDefault;
use crate::error::{Error, Result};
use crate::people::grants::Grants;
use crate::views::PeopleStore;

row_struct! {
    /// A token as its owner sees it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ApiToken {
        pub id: i64,
        pub name: String,
        pub grants: Grants as WordOrDefault,
        pub created_at: i64,
        pub expires_at: i64,
        pub used_at: Option<i64>,
        pub used_from: Option<String>,
    }
}

/// A token to be stored.
pub struct NewApiToken<'a> {
    pub account_id: i64,
    pub name: &'a str,
    pub token_hash: &'a str,
    pub grants: &'a Grants,
    pub now: i64,
    pub expires_at: i64,
    /// The number of the account's credentials when its owner was asked for the password.
    pub credentials: i64,
}

row_struct! {
    /// A valid token with its account.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TokenOwner {
        pub id: i64,
        pub account_id: i64,
        pub account: String,
        /// The token's name.
        pub name: String,
        /// What the token allows.
        pub grants: Grants as WordOrDefault,
        /// What its account may do.
        pub account_grants: Grants as WordOrDefault,
        pub created_at: i64,
        pub used_at: Option<i64>,
        pub used_from: Option<String>,
        /// The OpenID provider that its account signs in with.
        pub issuer: Option<String>,
        /// When the provider last vouched for the account.
        pub provided_at: Option<i64>,
        /// Since when its account has a second factor.
        pub totp_since: Option<i64>,
    }
}

const VALID_TOKEN: &str = "SELECT t.id, t.account_id, a.name AS account, t.name, t.grants, COALESCE(a.grants, '') AS account_grants, \
     t.created_at, t.used_at, t.used_from, a.issuer, a.provided_at, a.totp_since FROM api_token t JOIN account a ON a.id = t.account_id \
     WHERE t.expires_at > ? AND a.disabled_at IS NULL";

/// Tokens of one account.
pub const MAX_TOKENS: i64 = 50;

impl PeopleStore<'_> {
    /// # Errors
    /// `InUse`: the account has [`MAX_TOKENS`] already. `Changed`: its credentials are not those that were checked.
    pub async fn create_token(self, new: &NewApiToken<'_>, actor: &Actor) -> Result<i64> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, new.now).await?;
        if !self.has_credentials(&tx, new.account_id, new.credentials).await? {
            return Err(Error::Changed("your account has changed meanwhile; sign in again".to_owned()));
        }
        let text = "SELECT COUNT(*) FROM api_token WHERE account_id = ?";
        let count: Option<i64> = self.tuple(&tx, text, values![new.account_id]).await?;
        if count.unwrap_or(0) >= MAX_TOKENS {
            return Err(Error::InUse(format!("an account may have {MAX_TOKENS} tokens; revoke one first")));
        }
        let NewApiToken { account_id, name, token_hash, now, expires_at, .. } = *new;
        let grants = new.grants.to_string();
        let row = named![id, account_id, name, token_hash, grants: grants.as_str(), created_at: now, expires_at];
        self.insert_row(&tx, "api_token", row).await?;
        let detail = json!({"after": {"name": name, "grants": grants, "expires_at": expires_at}});
        audit.commit(tx, AuditAction::Create, AuditObject::api_token(id), detail).await?;
        Ok(id)
    }

    /// The tokens of an account, newest first.
    pub async fn tokens_of(self, account_id: i64) -> Result<Vec<ApiToken>> {
        let text = "SELECT id, name, grants, created_at, expires_at, used_at, used_from FROM api_token \
                    WHERE account_id = ? ORDER BY id DESC";
        self.all(&self.read, text, values![account_id]).await
    }

    /// Ends a token of the account at once. False: it has no such token.
    pub async fn revoke_token(self, account_id: i64, id: i64, now: i64, actor: &Actor) -> Result<bool> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "SELECT name FROM api_token WHERE account_id = ? AND id = ?{for_update}";
        let Some(name) = self.tuple::<String>(&tx, text, values![account_id, id]).await? else {
            return Ok(false);
        };
        self.execute(&tx, "DELETE FROM api_token WHERE id = ?", values![id]).await?;
        let detail = json!({"before": {"name": name, "account": account_id}});
        audit.commit(tx, AuditAction::Delete, AuditObject::api_token(id), detail).await?;
        Ok(true)
    }

    /// Ends the tokens of an account together with a change of it, whose entry names them. How many they were.
    pub(crate) async fn revoke_tokens_of(
        self,
        tx: &Transaction,
        account_id: i64,
        detail: &mut serde_json::Value,
    ) -> Result<usize> {
        let text = "SELECT name FROM api_token WHERE account_id = ? ORDER BY id{for_update}";
        let names: Vec<String> = self.tuples(tx, text, values![account_id]).await?;
        let count = names.len();
        if count > 0 {
            self.execute(tx, "DELETE FROM api_token WHERE account_id = ?", values![account_id]).await?;
            detail["revoked_tokens"] = names.into();
        }
        Ok(count)
    }

    /// The token with this digest, if it is valid by `now` and its account is enabled.
    pub async fn token_owner(self, token_hash: &str, now: i64) -> Result<Option<TokenOwner>> {
        let text = format!("{VALID_TOKEN} AND t.token_hash = ?");
        self.one(&self.read, &text, values![now, token_hash]).await
    }

    /// The token of an account with this id, if it is valid by `now` and the account is enabled.
    pub async fn token_of(self, account_id: i64, id: i64, now: i64) -> Result<Option<TokenOwner>> {
        let text = format!("{VALID_TOKEN} AND t.id = ? AND t.account_id = ?");
        self.one(&self.read, &text, values![now, id, account_id]).await
    }

    /// Notes that the token was used. The caller limits how often this is written. The first use from a network leaves an audit entry.
    pub async fn touch_token(self, id: i64, now: i64, actor: &Actor) -> Result<()> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let source: String = actor.source.chars().take(64).collect();
        let tx = self.begin_change().await?;
        // Locks the token: of two first uses at once, the second finds the entry of the first.
        let text = "UPDATE api_token SET used_at = ?, used_from = ? WHERE id = ?";
        self.execute(&tx, text, values![now, source.as_str(), id]).await?;
        self.note_token_source(&tx, AuditObject::api_token(id), (actor, audit_id), now).await?;
        Ok(tx.commit().await?)
    }
}
