//! Alerts whose time has come: the messages are written to the outbox in the transaction that takes the alert forward.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;

use crate::alert::alerts::{Alert, SELECT};
use crate::alert::deliveries::{DeliveryState, NewDelivery};
use crate::alert::open_alert::MOST_STEPS;
use crate::db::ids;
use crate::error::Result;
use crate::views::AlertStore;

/// Alerts of one round.
const MOST: i64 = 100;

/// What follows from a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationUpdate {
    /// The messages: a channel, the kind of the message, and its text as JSON.
    pub deliveries: Vec<NewDelivery>,
    /// Events that have been told of.
    pub told: i64,
    /// Messages about events in a row.
    pub steps: i64,
    pub told_at: Option<Millis>,
    pub notify_at: Option<Millis>,
    pub repeat_at: Option<Millis>,
    pub escalate_at: Option<Millis>,
    pub escalated_at: Option<Millis>,
}

impl AlertStore<'_> {
    /// Alerts with something to tell, the earliest first.
    pub async fn due(self, now: Millis) -> Result<Vec<Alert>> {
        let text = format!("{SELECT} WHERE a.due_at <= ? ORDER BY a.due_at, a.id LIMIT {MOST}");
        let rows = self.query(&self.write, &text, values![now]).await?;
        Ok(self.readable("alert", &rows))
    }

    /// The channels that have got messages of an alert, also of lists that its rule has no more, each with its kind. None: the
    /// deliveries are not kept any more.
    pub async fn notified_channels(self, alert_id: i64) -> Result<Option<BTreeSet<(i64, String)>>> {
        let text = "SELECT DISTINCT d.channel_id, c.kind, d.state FROM alert_delivery d JOIN alert_channel c ON c.id = d.channel_id \
                    WHERE d.alert_id = ?";
        let rows: Vec<(i64, String, i16)> = self.tuples(&self.write, text, values![alert_id]).await?;
        let has_got = |state: i16| DeliveryState::from_code(state) != Some(DeliveryState::LeftOut);
        let told = rows.iter().filter(|(.., state)| has_got(*state)).map(|(id, kind, _)| (*id, kind.clone())).collect();
        Ok((!rows.is_empty()).then_some(told))
    }

    /// Writes the messages about an alert, and when there is something to tell again. False: another node was faster, or the alert has
    /// changed; then nothing is written.
    pub async fn record_notification(self, alert: &Alert, told: &NotificationUpdate, now: Millis) -> Result<bool> {
        // As many again for messages that stand for those that a channel does not take any more.
        let ids = self.take_ids(&ids::ROW, 2 * told.deliveries.len()).await?;
        let tx = self.begin().await?;
        let due_at = [told.notify_at, told.repeat_at, told.escalate_at].into_iter().flatten().min();
        // State, count and the three times are all that routing, recovery and people change.
        let NotificationUpdate { told_at, notify_at, repeat_at, escalate_at, escalated_at, .. } = *told;
        let set = named![told: told.told, steps: told.steps.min(MOST_STEPS - 2), told_at, notify_at, repeat_at, escalate_at,
            escalated_at, due_at];
        let unchanged = " WHERE id = ? AND state = ? AND events = ? AND COALESCE(notify_at, 0) = ? AND COALESCE(repeat_at, 0) = ? \
                         AND COALESCE(escalate_at, 0) = ? AND due_at > 0";
        let times = [alert.notify_at, alert.repeat_at, alert.escalate_at].map(|at| at.unwrap_or(0).into());
        let known = [values![alert.id, alert.state.code(), alert.events], times.to_vec()].concat();
        if self.update_columns(&tx, "alert", set, (unchanged, known)).await? == 0 {
            return Ok(false);
        }
        self.write_deliveries(&tx, alert.id, &told.deliveries, ids, now).await?;
        tx.commit().await?;
        Ok(true)
    }
}
