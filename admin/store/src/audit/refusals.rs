//! Refusals in the audit, a bounded number of them.

use carillon_scheduler::{AuditAction, Millis};

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Records a refusal, unless there were too many of this actor, or of all of its kind, within a minute. The next row says how many
    /// were left out before it.
    pub async fn record_refusal(
        &self,
        actor: &Actor,
        action: AuditAction,
        object: AuditObject,
        mut detail: serde_json::Value,
        now: Millis,
    ) -> Result<()> {
        let Some(left_out) = self.refusals.admit(action, actor, now) else {
            return Ok(());
        };
        if left_out > 0 {
            detail["left_out"] = left_out.into();
        }
        self.record_audit(actor, action, object, detail, now).await
    }
}
