//! What people do with a trigger before it is released: give it another time, or cancel it.

use carillon_scheduler::{AuditAction, Millis, RunReason};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::change::PendingEntry;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::Result;
use crate::run::trigger::delayed::release::{DueTrigger, TriggerRun};
use crate::views::DelayedStore;

/// A trigger that is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetTrigger {
    pub id: i64,
    /// The app in which the actor may change it: moved to another one meanwhile, it is missing. None: whichever it belongs to.
    pub app_id: Option<i64>,
}

impl TargetTrigger {
    pub const fn of_app(id: i64, app_id: i64) -> Self {
        Self { id, app_id: Some(app_id) }
    }
}

impl From<i64> for TargetTrigger {
    fn from(id: i64) -> Self {
        Self { id, app_id: None }
    }
}

/// A trigger with its job locked.
struct LockedTrigger {
    trigger: DueTrigger,
    shard: i32,
    app_id: i64,
}

impl DelayedStore<'_> {
    /// Gives a trigger another time; the time after which it does not run any more moves with it. Answers its shard. None: there is no
    /// such trigger, or its time has come.
    pub async fn move_to(
        self,
        trigger: impl Into<TargetTrigger>,
        due_at: Millis,
        now: Millis,
        actor: &Actor,
    ) -> Result<Option<i32>> {
        let target = trigger.into();
        let audit = self.audit().pending_entry(actor, now).await?;
        retry::on_conflict(|| self.try_move(target, due_at, audit)).await
    }

    async fn try_move(self, target: TargetTrigger, due_at: Millis, audit: PendingEntry<'_>) -> Result<Option<i32>> {
        let id = target.id;
        let tx = self.begin_change().await?;
        let Some(LockedTrigger { trigger, shard, app_id }) = self.lock_trigger(&tx, target).await? else {
            return Ok(None);
        };
        let expires_at = match trigger.expires_at {
            0 => 0,
            at => at + (due_at - trigger.due_at),
        };
        let text = "UPDATE delayed_trigger SET due_at = ?, expires_at = ? WHERE id = ?";
        self.execute(&tx, text, values![due_at, expires_at, id]).await?;
        let detail = json!({"before": {"due_at": trigger.due_at}, "after": {"due_at": due_at}});
        audit.commit(tx, AuditAction::Update, AuditObject::run(id, app_id), detail).await?;
        Ok(Some(shard))
    }

    /// Replaces a trigger by a cancelled run, and answers its id. None: there is no such trigger, or its time has come.
    pub async fn cancel(self, trigger: impl Into<TargetTrigger>, now: Millis, actor: &Actor) -> Result<Option<i64>> {
        let target = trigger.into();
        let audit = self.audit().pending_entry(actor, now).await?;
        let run_id = self.take_id(&ids::RUN).await?;
        let cancelled = retry::on_conflict(|| self.try_cancel(target, run_id, now, audit)).await?;
        let Some(followed) = cancelled else { return Ok(None) };
        self.runs().try_to_advance(&followed, now).await;
        Ok(Some(run_id))
    }

    async fn try_cancel(
        self,
        target: TargetTrigger,
        run_id: i64,
        now: Millis,
        audit: PendingEntry<'_>,
    ) -> Result<Option<Vec<i64>>> {
        let id = target.id;
        let tx = self.begin_change().await?;
        let Some(LockedTrigger { trigger, shard, app_id }) = self.lock_trigger(&tx, target).await? else {
            return Ok(None);
        };
        // A run that is over is one of now: with a time that is years ahead retention and reports would keep it until then.
        let at = trigger.due_at.min(now);
        let times = (at, at);
        self.make_runs(&tx, &[TriggerRun { run_id, trigger, times }], shard, (0, None)).await?;
        let detail = json!({"outcome": "cancelled", "due_at": trigger.due_at});
        let (_, followed) = self.runs().end_claimed(&tx, &[run_id], RunReason::Operator, now).await?;
        audit.commit(tx, AuditAction::Kill, AuditObject::run(id, app_id), detail).await?;
        Ok(Some(followed))
    }

    /// The trigger as it is once its job is locked: a release may have been quicker.
    async fn lock_trigger(self, tx: &Transaction, target: TargetTrigger) -> Result<Option<LockedTrigger>> {
        let id = target.id;
        let text = "SELECT job_id FROM delayed_trigger WHERE id = ?";
        let Some(job_id) = self.tuple::<i64>(tx, text, values![id]).await? else { return Ok(None) };
        let text = "SELECT app_id FROM job WHERE id = ?{for_update}";
        let found = self.tuple::<i64>(tx, text, values![job_id]).await?;
        let Some(app_id) = found.filter(|app_id| target.app_id.is_none_or(|own| own == *app_id)) else {
            return Ok(None);
        };
        let text = "SELECT shard, due_at, expires_at FROM delayed_trigger WHERE id = ?";
        let found: Option<(i32, Millis, Millis)> = self.tuple(tx, text, values![id]).await?;
        Ok(found.map(|(shard, due_at, expires_at)| {
            let trigger = DueTrigger { id, job_id, due_at, expires_at };
            LockedTrigger { trigger, shard, app_id }
        }))
    }
}
