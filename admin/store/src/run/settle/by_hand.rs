//! Outcomes that people set: each in one transaction with its row in the audit, so that neither is there without the other.

use foldhash::HashMap;

use carillon_scheduler::{AuditAction, Millis, RunState};
use serde_json::Value;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::Result;
use crate::run::lock::{LockMode, LockedRun};
use crate::run::settle::finding::{RunReport, SettleContext, Settlement};
use crate::views::RunStore;

/// Who says it, and what the audit keeps of it.
#[derive(Clone, Copy)]
pub struct ByHand<'a> {
    pub actor: &'a Actor,
    pub detail: &'a Value,
}

/// The same with the ids of the rows, which are taken before the transaction.
pub(super) struct Resolution<'a> {
    by: ByHand<'a>,
    ids: Vec<i64>,
}

impl RunStore<'_> {
    /// Settles runs that are `unknown` or `lost`, one finding each. Those that a report or another person has settled meanwhile stay
    /// as they are and leave no row in the audit.
    pub async fn settle_by_hand(
        self,
        findings: &[RunReport],
        context: &SettleContext,
        by: ByHand<'_>,
    ) -> Result<Settlement> {
        // Locked in the order that all transactions keep.
        let mut list: Vec<&RunReport> = findings.iter().collect();
        list.sort_unstable_by_key(|finding| finding.run_id);
        list.dedup_by_key(|finding| finding.run_id);
        if list.is_empty() {
            return Ok(Settlement::default());
        }
        let resolution = Resolution { by, ids: self.take_ids(&ids::ROW, list.len()).await? };
        retry::on_conflict(|| self.try_settle_others(&list, context, LockMode::Wait, Some(&resolution))).await
    }

    pub(super) async fn audit_by_hand(
        self,
        tx: &Transaction,
        by_hand: Option<&Resolution<'_>>,
        (settled, runs): (&Settlement, &HashMap<i64, LockedRun>),
        now: Millis,
    ) -> Result<()> {
        let Some(Resolution { by, ids }) = by_hand else {
            return Ok(());
        };
        let entry = |run: &LockedRun| {
            let object = AuditObject::run(run.id, run.app_id);
            AuditEntry::new(by.actor, now, AuditAction::Resolve, object, by.detail)
        };
        let changed = settled.changed.iter().filter_map(|(run_id, _)| runs.get(run_id));
        let entries: Vec<AuditEntry> = changed.map(entry).collect();
        let ids = &ids[..entries.len()];
        self.audit().insert(tx, entries, ids).await
    }
}

/// Whether a person may say what became of it.
pub(super) fn is_undecided(run: &LockedRun) -> bool {
    matches!(run.state, RunState::Unknown | RunState::Lost)
}
