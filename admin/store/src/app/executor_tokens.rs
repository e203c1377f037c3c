//! Tokens of the executors of one app. The database keeps a digest, for checking, and the encrypted token, for sending.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::{ConnectionTrait, FromQueryResult};
use serde_json::json;

use crate::app::apps::App;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::error::{Error, Result};
use crate::views::AppStore;

/// Valid tokens of one app: the one in use, and the one that takes its place.
pub const MAX_TOKENS: usize = 2;

/// A token as people see it.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct ExecutorToken {
    pub id: i64,
    pub name: String,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub used_at: Option<Millis>,
    pub used_from: Option<String>,
}

impl ExecutorToken {
    pub fn is_valid(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|expires_at| expires_at > now)
    }
}

pub struct NewExecutorToken<'a> {
    pub name: &'a str,
    pub token_hash: &'a str,
    pub sealed: &'a str,
    pub now: Millis,
    pub expires_at: Option<Millis>,
}

/// What a node must know of an app that has tokens, or accepts no others: one row for each token, and one without a token for an
/// app that has none.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct AppToken {
    pub app_id: i64,
    pub app: String,
    pub own_tokens_only: bool,
    pub id: Option<i64>,
    pub token_hash: Option<String>,
    pub sealed: Option<String>,
    pub expires_at: Option<Millis>,
    pub used_at: Option<Millis>,
}

const SELECT: &str = "SELECT id, name, created_at, expires_at, used_at, used_from FROM executor_token";

impl AppStore<'_> {
    /// # Errors
    /// `InUse`: the app has [`MAX_TOKENS`] that are valid.
    pub async fn create_executor_token(
        self,
        app: &App,
        new: &NewExecutorToken<'_>,
        actor: &Actor,
    ) -> Result<ExecutorToken> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, new.now).await?;
        self.lock_app(&tx, app).await?;
        let all: Vec<ExecutorToken> = self.all(&tx, &format!("{SELECT} WHERE app_id = ?"), values![app.id]).await?;
        if all.iter().filter(|token| token.is_valid(new.now)).count() >= MAX_TOKENS {
            return Err(Error::InUse(format!("an app may have {MAX_TOKENS} valid tokens; revoke one first")));
        }
        let NewExecutorToken { name, token_hash, sealed, now, expires_at } = *new;
        let row = named![id, app_id: app.id, name, token_hash, sealed, created_at: now, expires_at];
        self.insert_row(&tx, "executor_token", row).await?;
        let detail = json!({"after": {"app": app.name, "name": name, "expires_at": expires_at}});
        audit.commit(tx, AuditAction::Create, AuditObject::executor_token(id, app.id), detail).await?;
        Ok(ExecutorToken { id, name: name.to_owned(), created_at: now, expires_at, used_at: None, used_from: None })
    }

    /// The tokens of an app, newest first.
    pub async fn executor_tokens_of(self, app_id: i64) -> Result<Vec<ExecutorToken>> {
        self.all(&self.read, &format!("{SELECT} WHERE app_id = ? ORDER BY id DESC"), values![app_id]).await
    }

    /// Ends a token, and the registrations that were made with it: its executors are called no more. False: the app has no such
    /// token.
    pub async fn revoke_executor_token(self, app: &App, id: i64, now: Millis, actor: &Actor) -> Result<bool> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        self.lock_app(&tx, app).await?;
        let text = "DELETE FROM executor_token WHERE app_id = ? AND id = ?";
        if self.execute(&tx, text, values![app.id, id]).await? == 0 {
            return Ok(false);
        }
        self.end_registrations(&tx, "app = ? AND token_id = ?", values![app.name.as_str(), id]).await?;
        let detail = json!({"before": {"app": app.name}});
        audit.commit(tx, AuditAction::Delete, AuditObject::executor_token(id, app.id), detail).await?;
        Ok(true)
    }

    /// Whether the app accepts its own tokens alone. If so, the registrations that were made with the token of all apps end.
    ///
    /// # Errors
    /// `InUse`: the app has no valid token of its own, so that no executor could register.
    pub async fn set_own_tokens_only(self, app: &App, is_set: bool, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        if self.lock_app(&tx, app).await? == is_set {
            return Ok(());
        }
        if is_set {
            let all: Vec<ExecutorToken> = self.all(&tx, &format!("{SELECT} WHERE app_id = ?"), values![app.id]).await?;
            if !all.iter().any(|token| token.is_valid(now)) {
                return Err(Error::InUse("the app has no valid token of its own; make one first".to_owned()));
            }
            self.end_registrations(&tx, "app = ? AND token_id IS NULL", values![app.name.as_str()]).await?;
        }
        self.execute(&tx, "UPDATE app SET own_tokens_only = ? WHERE id = ?", values![is_set, app.id]).await?;
        let change = |is_set: bool| json!({"own_tokens_only": is_set});
        let detail = json!({"before": change(!is_set), "after": change(is_set)});
        audit.commit(tx, AuditAction::Update, AuditObject::app(app.id), detail).await
    }

    /// Locks an app: of two tokens made at once, each would count as the last one that is allowed. Whether it accepts its own
    /// tokens alone.
    pub(super) async fn lock_app(self, tx: &impl ConnectionTrait, app: &App) -> Result<bool> {
        let text = "SELECT own_tokens_only FROM app WHERE id = ?{for_update}";
        let found: Option<bool> = self.tuple(tx, text, values![app.id]).await?;
        found.ok_or_else(|| Error::Missing(format!("app {}", app.id)))
    }

    /// The tokens of all apps; see [`AppToken`].
    pub async fn app_tokens(self) -> Result<Vec<AppToken>> {
        let text = "SELECT a.id AS app_id, a.name AS app, a.own_tokens_only, t.id, t.token_hash, t.sealed, t.expires_at, t.used_at \
                    FROM app a LEFT JOIN executor_token t ON t.app_id = a.id \
                    WHERE a.own_tokens_only = TRUE OR t.id IS NOT NULL ORDER BY a.id, t.id";
        self.all(&self.engine_reads, text, vec![]).await
    }

    /// The ids of all tokens, to compare with those that a node knows.
    pub async fn executor_token_ids(self) -> Result<Vec<i64>> {
        self.tuples(&self.read, "SELECT id FROM executor_token", vec![]).await
    }

    /// Notes that the token was used. The caller limits how often this is written.
    pub async fn touch_executor_token(self, id: i64, source: &str, now: Millis) -> Result<()> {
        let source: String = source.chars().take(64).collect();
        let text = "UPDATE executor_token SET used_at = ?, used_from = ? WHERE id = ?";
        self.execute(&self.changes, text, values![now, source, id]).await.map(drop)
    }
}
