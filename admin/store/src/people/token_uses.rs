//! The first use of a token from a network leaves an entry in the audit; later ones cost a look into memory.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::people::source_network::source_network;
use crate::people::token_sources::key;
use crate::views::PeopleStore;

impl PeopleStore<'_> {
    /// Whether the use of a token from an address is in the audit, as far as this node remembers; asks no database.
    pub fn knows_token_use(self, token: AuditObject, source: &str) -> bool {
        self.token_sources.knows(&key(token, source))
    }

    /// A token was used that no account has: of the settings, or of executors. The first use from a network leaves an audit entry.
    pub async fn note_token_use(self, token: AuditObject, actor: &Actor, now: Millis) -> Result<()> {
        let key = key(token, &actor.source);
        if !self.token_sources.claim(&key) {
            return Ok(());
        }
        let noted = self.try_note_token_use(token, actor, now).await;
        if !matches!(noted, Ok(true)) {
            self.token_sources.forget(&key);
        }
        noted.map(drop)
    }

    async fn try_note_token_use(self, token: AuditObject, actor: &Actor, now: Millis) -> Result<bool> {
        if self.is_use_noted(&self.read, token, actor).await? {
            return Ok(true);
        }
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        // The row from which the id was taken. Of two first uses at once, on two nodes, the second finds the entry of the first.
        self.tuple::<i64>(&tx, "SELECT next FROM id_block WHERE name = ?{for_update}", values![ids::ROW.name]).await?;
        let is_noted = self.note_token_source(&tx, token, (actor, audit_id), now).await?;
        tx.commit().await?;
        Ok(is_noted)
    }

    /// Notes a use in a transaction that keeps others from noting the same. False: there were too many first uses within a minute.
    pub(crate) async fn note_token_source(
        self,
        tx: &Transaction,
        token: AuditObject,
        (actor, audit_id): (&Actor, i64),
        now: Millis,
    ) -> Result<bool> {
        if self.is_use_noted(tx, token, actor).await? {
            return Ok(true);
        }
        let Some(left_out) = self.refusals.admit(AuditAction::UseToken, actor, now) else {
            return Ok(false);
        };
        // A host may take any address of its network: the entry is about the network, and says which address it was.
        let network = source_network(&actor.source);
        let mut detail = if network == actor.source { json!({}) } else { json!({"address": actor.source}) };
        if left_out > 0 {
            detail["left_out"] = left_out.into();
        }
        let actor = Actor { source: network, ..actor.clone() };
        let entry = AuditEntry::new(&actor, now, AuditAction::UseToken, token, detail);
        self.audit().insert(tx, vec![entry], &[audit_id]).await?;
        Ok(true)
    }

    async fn is_use_noted(self, db: &impl ConnectionTrait, token: AuditObject, actor: &Actor) -> Result<bool> {
        let source: String = source_network(&actor.source).chars().take(64).collect();
        let text = "SELECT id FROM audit WHERE object = ? AND object_id = ? AND action = {action.use_token} AND source = ? LIMIT 1";
        let found: Option<i64> = self.tuple(db, text, values![token.kind.as_str(), token.id, source]).await?;
        Ok(found.is_some())
    }
}
