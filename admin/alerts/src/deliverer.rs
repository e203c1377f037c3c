//! Sends what waits in the outbox: any node takes what is due, and records the answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret_keys::SecretKeys;
use carillon_engine::Engine;
use carillon_engine::runtime::{Service, Step};
use carillon_scheduler::Millis;
use carillon_store::Result;
use carillon_store::alert::deliveries::{Delivery, DeliveryState};
use futures_util::future::join_all;
use tokio::sync::Notify;

use crate::channel::{Attempt, Channel, Sender};
use crate::message::Message;

const EVERY: Duration = Duration::from_secs(1);
/// Sent at once by one node.
const MOST: i64 = 20;
/// Until another node may take a delivery that was not recorded: longer than a try.
const LEASE: Millis = 30_000;
/// Pauses between two tries: from the first, doubled, to the last.
const FIRST_PAUSE: Millis = 5_000;
const LONGEST_PAUSE: Millis = 600_000;
/// After this time a delivery is given up.
const GIVE_UP: Millis = 86_400_000;

pub struct AlertDeliverer {
    engine: Arc<Engine>,
    sender: Arc<Sender>,
    keys: SecretKeys,
    sends: Arc<Notify>,
}

impl AlertDeliverer {
    pub fn new(engine: Arc<Engine>, sender: Arc<Sender>, keys: SecretKeys, sends: Arc<Notify>) -> Self {
        Self { engine, sender, keys, sends }
    }

    /// One round; answers how many deliveries were tried.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn round(&self) -> Result<usize> {
        let store = &self.engine.cx.store;
        let taken = store.claim_deliveries(MOST, LEASE, self.engine.cx.clock.now()).await?;
        let tried = join_all(taken.iter().map(|delivery| self.deliver(delivery))).await;
        let holds = tried.into_iter().collect::<Result<Vec<_>>>()?;
        let mut channels: BTreeMap<i64, Millis> = BTreeMap::new();
        for (channel_id, until) in holds.into_iter().flatten() {
            // The longest of their pauses.
            let held = channels.entry(channel_id).or_insert(until);
            *held = (*held).max(until);
        }
        self.hold(channels).await?;
        Ok(taken.len())
    }

    /// One statement for a channel: several at once would lock its messages in different orders.
    async fn hold(&self, channels: BTreeMap<i64, Millis>) -> Result<()> {
        for (channel_id, until) in channels {
            match self.engine.cx.store.hold_channel(channel_id, until).await {
                // Another node holds its messages now, or the next round does.
                Err(error) if error.is_lock_conflict() => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Some: its channel takes nothing until then.
    async fn deliver(&self, delivery: &Delivery) -> Result<Option<(i64, Millis)>> {
        let attempt = self.attempt(delivery).await?;
        let (store, now) = (&self.engine.cx.store, self.engine.cx.clock.now());
        let mut hold = None;
        let outcome = match attempt {
            Attempt::Delivered { answer } => {
                store.finish_delivery(delivery, DeliveryState::Sent, &answer, now).await?;
                "sent"
            }
            Attempt::Again { answer, .. } if is_last(delivery, now) => {
                store.finish_delivery(delivery, DeliveryState::Failed, &answer, now).await?;
                tracing::warn!(channel.id = delivery.channel_id, delivery.id = delivery.id, delivery.answer = ?answer, "a message was given up");
                "failed"
            }
            Attempt::Again { answer, after, is_down } => {
                let next_at = now + pause(delivery.attempts, after, rand::random());
                store.retry_delivery(delivery, next_at, &answer).await?;
                hold = is_down.then_some((delivery.channel_id, next_at));
                "retried"
            }
        };
        self.engine.cx.metrics.alert_deliveries.with_label_values(&[outcome]).inc();
        Ok(hold)
    }

    async fn attempt(&self, delivery: &Delivery) -> Result<Attempt> {
        let again = |answer: String| Ok(Attempt::again(answer));
        let Some(row) = self.engine.cx.store.alert_channel(delivery.channel_id).await? else {
            return again("the channel was deleted".to_owned());
        };
        let channel = match Channel::from_row(&row, &self.keys) {
            Ok(channel) => channel,
            Err(why) => return again(why),
        };
        let message: Message = match serde_json::from_str(&delivery.message) {
            Ok(message) => message,
            Err(error) => return again(format!("the message cannot be read: {error}")),
        };
        Ok(self.sender.send(&channel, delivery, &message, self.engine.cx.clock.now()).await)
    }
}

/// A test has an answer at once; all others are tried for a day.
fn is_last(delivery: &Delivery, now: Millis) -> bool {
    delivery.alert_id.is_none() || now - delivery.created_at >= GIVE_UP
}

/// Until the next try. What the channel asks for counts, up to an hour.
fn pause(attempts: i32, after: Option<Duration>, jitter: f64) -> Millis {
    let doubled = FIRST_PAUSE << attempts.clamp(1, 10).saturating_sub(1);
    let own = (doubled.min(LONGEST_PAUSE) as f64 * (0.8 + 0.4 * jitter)) as Millis;
    let asked = after.map_or(0, |after| Millis::try_from(after.as_millis()).unwrap_or(Millis::MAX).min(3_600_000));
    own.max(asked)
}

impl Service for AlertDeliverer {
    const NAME: &'static str = "deliveries";
    /// Deliveries that were tried.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "messages could not be sent; the next round goes on");
            0
        });
        Step { did, next: if did >= MOST as usize { Duration::ZERO } else { EVERY } }
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.sends.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_a_channel_may_ask_for_longer_ones() {
        let pauses = [1, 2, 3, 7, 8, 500].map(|attempts| pause(attempts, None, 0.5));
        assert_eq!(pauses, [5_000, 10_000, 20_000, 320_000, 600_000, 600_000]);
        assert_eq!(pause(1, Some(Duration::from_secs(30)), 0.5), 30_000);
        assert_eq!(pause(3, Some(Duration::from_secs(1)), 0.5), 20_000);
        assert_eq!(pause(1, Some(Duration::MAX), 0.5), 3_600_000);
    }
}
