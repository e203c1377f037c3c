//! The outbox: messages that wait for their channel, and what the channels have answered.
//!
//! A try takes a delivery by setting its next time ahead by as long as the try may last. A node that dies in between leaves it to the
//! next look after that time: at least once, always under the same id.

use std::collections::BTreeMap;

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis, words};
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::sql::filter::{Conditions, Page};
use crate::db::sql::text::{cut, printable};
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::AlertStore;

/// Kept of an answer, in bytes.
const ANSWER: usize = 1_000;

words! {
    /// What became of a message.
    pub enum DeliveryState: "state of a delivery" {
        Pending = 0 "pending",
        Sent = 1 "sent",
        /// Given up.
        Failed = 2 "failed",
        /// The channel had its messages of the hour.
        LeftOut = 3 "left_out",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Delivery {
    pub id: i64,
    /// None: a test of the channel, or a message about messages that were left out.
    pub alert_id: Option<i64>,
    /// The app that the alert is about.
    pub app_id: Option<i64>,
    pub channel_id: i64,
    pub channel: Option<String>,
    pub kind: String,
    /// JSON: see `carillon-alerts`.
    pub message: String,
    pub state: i16,
    pub attempts: i32,
    pub created_at: Millis,
    pub next_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    pub answer: Option<String>,
}

impl Delivery {
    pub fn state(&self) -> DeliveryState {
        DeliveryState::from_code(self.state).unwrap_or(DeliveryState::Failed)
    }
}

/// A message to a channel, to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    pub channel_id: i64,
    pub kind: &'static str,
    pub message: String,
    /// What a message says that stands for messages that are left out.
    pub summary: String,
}

impl NewDelivery {
    /// Whether the limit of the channel applies.
    pub(super) fn is_limited(&self) -> bool {
        self.kind != "resolved"
    }
}

/// Deliveries that one node sends at once: of one channel, and of all.
pub const OF_ONE_CHANNEL: usize = 5;
pub const OF_ALL_CHANNELS: usize = 100;

/// Which deliveries; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    pub apps: VisibleApps,
    pub alert_id: Option<i64>,
    pub channel_id: Option<i64>,
    pub after: Option<i64>,
    /// 1 to 1000.
    pub limit: u32,
}

const SELECT: &str = "SELECT d.id, d.alert_id, a.app_id, d.channel_id, c.name AS channel, d.kind, d.message, d.state, d.attempts, d.created_at, d.next_at, \
     d.finished_at, d.answer FROM alert_delivery d LEFT JOIN alert_channel c ON c.id = d.channel_id \
     LEFT JOIN alert a ON a.id = d.alert_id";

/// Channels take turns, and each has a few places: one that is slow keeps no other waiting. The end of an alert waits for what was said before it, or an
/// incident that a late message opens would never be closed. Counted, as MariaDB would read the whole table for `NOT EXISTS`.
const DUE: &str = "SELECT t.id, t.channel_id, t.next_at FROM (SELECT d.id, d.channel_id, d.next_at, ROW_NUMBER() OVER (PARTITION BY d.channel_id ORDER BY d.next_at, d.id) AS place \
     FROM alert_delivery d WHERE d.next_at <= ? AND d.channel_id NOT IN ({ids}) AND (d.kind <> 'resolved' OR 0 = (SELECT COUNT(*) FROM alert_delivery e \
     WHERE e.alert_id = d.alert_id AND e.channel_id = d.channel_id AND e.kind <> 'resolved' AND e.next_at > 0))) t \
     WHERE t.place <= ? ORDER BY t.place, t.next_at, t.id LIMIT ?";

impl AlertStore<'_> {
    /// A message to a channel that no alert causes.
    pub async fn add_test_delivery(self, channel_id: i64, message: &str, now: Millis, actor: &Actor) -> Result<i64> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let (kind, state, attempts) = ("test", 0_i16, 0_i32);
        let row = named![id, channel_id, kind, message, state, attempts, created_at: now, next_at: now];
        self.insert_row(&tx, "alert_delivery", row).await?;
        let object = AuditObject::new(AuditObjectKind::AlertChannel, channel_id);
        audit.commit(tx, AuditAction::Run, object, json!({"test": true, "delivery": id})).await?;
        Ok(id)
    }

    /// Takes deliveries that are due, for as long as `lease` says. `under_way`: how many this node sends now, by channel.
    pub async fn claim_deliveries(
        self,
        under_way: &BTreeMap<i64, usize>,
        lease: Millis,
        now: Millis,
    ) -> Result<Vec<Delivery>> {
        let mut used = under_way.clone();
        let most = OF_ALL_CHANNELS.saturating_sub(used.values().sum());
        // An id that no channel has keeps the list from being empty.
        let full = used.iter().filter(|(_, count)| **count >= OF_ONE_CHANNEL).map(|(id, _)| *id);
        let full: Vec<i64> = full.chain([0]).collect();
        let values = values![now, self.ids(&full), OF_ONE_CHANNEL as i64, most as i64];
        let due: Vec<(i64, i64, Millis)> = self.tuples(&self.write, DUE, values).await?;
        let mut taken = vec![];
        for (id, channel_id, next_at) in due {
            let used = used.entry(channel_id).or_default();
            if *used >= OF_ONE_CHANNEL {
                continue;
            }
            *used += 1;
            let text = "UPDATE alert_delivery SET next_at = ?, attempts = attempts + 1 WHERE id = ? AND next_at = ?";
            match self.execute(&self.write, text, values![now + lease, id, next_at]).await {
                Ok(1) => taken.push(id),
                Ok(_) => {}
                // The others are taken already, so they are sent; this one is for the next round.
                Err(error) if error.is_lock_conflict() => {}
                Err(error) => return Err(error),
            }
        }
        if taken.is_empty() {
            return Ok(vec![]);
        }
        let text = format!("{SELECT} WHERE d.id IN ({{ids}}) ORDER BY d.id");
        self.all(&self.write, &text, values![self.ids(&taken)]).await
    }

    /// The channel has taken it, or it is given up.
    pub async fn finish_delivery(
        self,
        delivery: &Delivery,
        state: DeliveryState,
        answer: &str,
        now: Millis,
    ) -> Result<()> {
        let text = "UPDATE alert_delivery SET state = ?, next_at = NULL, finished_at = ?, answer = ? WHERE id = ? AND next_at > 0";
        let answer = cut(&printable(answer), ANSWER);
        self.execute(&self.write, text, values![state.code(), now, answer, delivery.id]).await.map(drop)
    }

    /// The delivery is tried again. An attempt that took too long changes nothing: another one has started.
    pub async fn retry_delivery(self, delivery: &Delivery, next_at: Millis, answer: &str) -> Result<()> {
        let text = "UPDATE alert_delivery SET next_at = ?, answer = ? WHERE id = ? AND attempts = ? AND next_at > 0";
        let answer = cut(&printable(answer), ANSWER);
        self.execute(&self.write, text, values![next_at, answer, delivery.id, delivery.attempts]).await.map(drop)
    }

    /// The channel asks for a pause, or cannot be reached: what waits for it goes out after that, and keeps no other channel waiting.
    pub async fn hold_channel(self, channel_id: i64, until: Millis) -> Result<()> {
        let text = "UPDATE alert_delivery SET next_at = ? WHERE channel_id = ? AND next_at > 0 AND next_at < ?";
        self.execute(&self.write, text, values![until, channel_id, until]).await.map(drop)
    }

    /// Newest first.
    pub async fn deliveries(self, filter: &DeliveryFilter) -> Result<Page<Delivery>> {
        let mut conditions = Conditions::default();
        if !filter.apps.is_all() {
            let of_apps = filter.apps.condition("app_id");
            conditions.add(format!("d.alert_id IN (SELECT id FROM alert WHERE {of_apps})"), []);
        }
        conditions.add_if("d.alert_id = ?", filter.alert_id);
        conditions.add_if("d.channel_id = ?", filter.channel_id);
        conditions.add_if("d.id < ?", filter.after);
        let (text, values) = conditions.finish_page(filter.limit);
        let rows = self.all(&self.read, &format!("{SELECT}{text} ORDER BY d.id DESC LIMIT ?"), values).await?;
        Ok(Page::cut(rows, filter.limit, |row: &Delivery| row.id))
    }
}
