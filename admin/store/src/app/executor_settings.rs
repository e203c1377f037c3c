//! What operators set of executors, by app and address: it wins over what they say of themselves, and outlives their
//! registrations.

use carillon_scheduler::Millis;
use serde_json::json;

use crate::app::executors::Traits;
use crate::audit::{AuditEntry, difference};
use crate::db::ids;
use crate::{Actor, App, Result, Store};

impl Store {
    /// Sets both; None of one means what the executor says. Nothing set at all leaves no row.
    pub async fn set_executor_traits(
        &self,
        app: &App,
        address: &str,
        traits: &Traits,
        now: Millis,
        actor: &Actor,
    ) -> Result<()> {
        let id = self.take_id(&ids::ROW).await?;
        let mut tries = 0;
        loop {
            match self.try_set_traits(app, address, traits, now, (actor, id)).await {
                // Two at once: the other one has made the row.
                Err(error) if (error.is_unique_violation() || error.is_lock_conflict()) && tries < 3 => {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    async fn try_set_traits(
        &self,
        app: &App,
        address: &str,
        traits: &Traits,
        now: Millis,
        (actor, audit_id): (&Actor, i64),
    ) -> Result<()> {
        let key = || [app.name.as_str().into(), address.into()];
        let tx = self.begin_change().await?;
        let text =
            format!("SELECT weight, labels FROM executor_setting WHERE app = ? AND address = ?{}", self.for_update());
        let row = self.one(&tx, &text, key().into()).await?;
        let old = match row {
            Some(row) => Traits { weight: row.try_get_by_index(0)?, labels: row.try_get_by_index(1)? },
            None => Traits::default(),
        };
        if old == *traits {
            return Ok(());
        }
        let text = "DELETE FROM executor_setting WHERE app = ? AND address = ?";
        self.execute(&tx, text, key().into()).await?;
        if *traits != Traits::default() {
            let text = "INSERT INTO executor_setting (weight, labels, updated_at, app, address) VALUES (?, ?, ?, ?, ?)";
            let told = [traits.weight.into(), traits.labels.clone().into(), now.into()];
            self.execute(&tx, text, told.into_iter().chain(key()).collect()).await?;
        }
        let object = |traits: &Traits| json!({"weight": traits.weight, "labels": traits.labels});
        let mut detail = difference(&object(&old), &object(traits));
        detail["address"] = address.into();
        let entry = AuditEntry::new(actor, now, "update_executor", ("app", app.id), detail);
        self.audit(&tx, &[entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(())
    }
}
