//! The limit of a channel: messages per hour. Further ones are left out, and one message contains their number.

use std::collections::BTreeMap;

use carillon_scheduler::Millis;
use sea_orm::Value;

use crate::alert::deliveries::{Delivery, DeliveryState, NewDelivery};
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Conditions;
use crate::error::Result;
use crate::views::AlertStore;

const HOUR: Millis = 3_600_000;
/// The answer of a delivery that was left out.
const LEFT_OUT: &str = "left out: the channel has had its messages of this hour";

/// What a channel has had in the last hour, and what it takes.
struct Usage {
    per_hour: i64,
    sent: i64,
    /// When the first of them was written.
    first_at: Option<Millis>,
    /// A message about those that are left out waits already.
    has_summary: bool,
}

impl Usage {
    /// False: there is no place for a further message.
    fn take_place(&mut self, now: Millis) -> bool {
        let has_place = self.sent < self.per_hour;
        self.sent += i64::from(has_place);
        self.first_at = self.first_at.or(Some(now));
        has_place
    }
}

impl AlertStore<'_> {
    /// Writes deliveries of an alert. The end of an alert is never left out: an incident would stay open. `ids`: two for each delivery.
    pub(super) async fn write_deliveries(
        self,
        tx: &Transaction,
        alert_id: i64,
        new: &[NewDelivery],
        ids: Vec<i64>,
        now: Millis,
    ) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let (mut usage, mut ids) = (self.channel_usage(tx, new, now).await?, ids.into_iter());
        let mut rows: Vec<Vec<Value>> = vec![];
        for delivery in new {
            let mut id = || ids.next().unwrap_or_default();
            let (channel, message) = (delivery.channel_id, delivery.message.as_str());
            let row =
                |id: i64, state: DeliveryState, kind: &str, message: &str, alert: Option<i64>, next: Option<Millis>| {
                    let (finished_at, answer) =
                        if next.is_none() { (Some(now), Some(LEFT_OUT.to_owned())) } else { (None, None) };
                    values![id, alert, channel, kind, message, state as i16, 0_i32, now, next, finished_at, answer]
                };
            let limited = usage.get_mut(&channel).filter(|_| delivery.is_limited());
            let Some(full) = limited.and_then(|used| (!used.take_place(now)).then_some(used)) else {
                rows.push(row(id(), DeliveryState::Pending, delivery.kind, message, Some(alert_id), Some(now)));
                continue;
            };
            rows.push(row(id(), DeliveryState::LeftOut, delivery.kind, message, Some(alert_id), None));
            if !full.has_summary {
                full.has_summary = true;
                let at = full.first_at.unwrap_or(now) + HOUR;
                rows.push(row(id(), DeliveryState::Pending, "more", &delivery.summary, None, Some(at)));
            }
        }
        let columns =
            "id, alert_id, channel_id, kind, message, state, attempts, created_at, next_at, finished_at, answer";
        self.insert_rows(tx, "alert_delivery", columns, rows).await
    }

    async fn channel_usage(self, tx: &Transaction, new: &[NewDelivery], now: Millis) -> Result<BTreeMap<i64, Usage>> {
        let mut conditions = Conditions::default();
        conditions.among("id", new.iter().map(|it| it.channel_id));
        let (filter, values) = conditions.finish();
        // Locked: two nodes that write at once would both see room.
        let text = format!("SELECT id, per_hour FROM alert_channel{filter} ORDER BY id{{for_update}}");
        let mut usage = BTreeMap::new();
        for (id, per_hour) in self.tuples::<(i64, i64)>(tx, &text, values).await? {
            let text = "SELECT COUNT(*), MIN(created_at) FROM alert_delivery WHERE channel_id = ? AND created_at > ? AND alert_id > 0 \
                        AND kind <> 'resolved' AND state <> 3";
            let (sent, first_at) =
                self.tuple::<(i64, Option<Millis>)>(tx, text, values![id, now - HOUR]).await?.unwrap_or_default();
            let text = "SELECT COUNT(*) FROM alert_delivery WHERE channel_id = ? AND created_at > ? AND kind = 'more' AND attempts = 0 \
                        AND next_at > 0";
            let waiting: Option<i64> = self.tuple(tx, text, values![id, now - 2 * HOUR]).await?;
            usage.insert(id, Usage { per_hour, sent, first_at, has_summary: waiting > Some(0) });
        }
        Ok(usage)
    }

    /// How many messages a summary stands for, the first of which was left out when the summary was written.
    pub async fn left_out_since(self, summary: &Delivery) -> Result<i64> {
        let text = "SELECT COUNT(*) FROM alert_delivery WHERE channel_id = ? AND created_at >= ? AND state = 3";
        let count: Option<i64> = self.tuple(&self.write, text, values![summary.channel_id, summary.created_at]).await?;
        Ok(count.unwrap_or(0))
    }

    /// Stores what a delivery says, so that each try says the same.
    pub async fn set_delivery_message(self, id: i64, message: &str) -> Result<()> {
        self.execute(&self.write, "UPDATE alert_delivery SET message = ? WHERE id = ?", values![message, id])
            .await
            .map(drop)
    }
}
