//! Changes that leave one entry in the audit, in their transaction.

use carillon_scheduler::{AuditAction, Millis};
use serde::Serialize;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::views::AuditStore;

/// The entry of a change. It has its id already: ids are taken before the transaction begins.
#[derive(Clone, Copy)]
pub(crate) struct PendingEntry<'a> {
    store: AuditStore<'a>,
    pub actor: &'a Actor,
    pub now: Millis,
    id: i64,
}

impl<'a> AuditStore<'a> {
    pub(crate) async fn pending_entry(self, actor: &'a Actor, now: Millis) -> Result<PendingEntry<'a>> {
        Ok(PendingEntry { store: self, actor, now, id: self.take_id(&ids::ROW).await? })
    }

    /// Starts the transaction of an audited change. [`PendingEntry::commit`] writes the audit entry and commits; a transaction that is
    /// dropped before that is rolled back.
    pub(crate) async fn begin_audited(self, actor: &'a Actor, now: Millis) -> Result<(Transaction, PendingEntry<'a>)> {
        let entry = self.pending_entry(actor, now).await?;
        Ok((self.begin_change().await?, entry))
    }
}

impl PendingEntry<'_> {
    pub(crate) async fn write(
        self,
        tx: &Transaction,
        action: AuditAction,
        object: AuditObject,
        detail: impl Serialize,
    ) -> Result<()> {
        let entry = AuditEntry::new(self.actor, self.now, action, object, detail);
        self.store.insert(tx, vec![entry], &[self.id]).await
    }

    /// Writes the entry and commits the change.
    pub(crate) async fn commit(
        self,
        tx: Transaction,
        action: AuditAction,
        object: AuditObject,
        detail: impl Serialize,
    ) -> Result<()> {
        self.write(&tx, action, object, detail).await?;
        Ok(tx.commit().await?)
    }
}
