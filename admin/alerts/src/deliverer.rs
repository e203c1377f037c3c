//! Sends what waits in the outbox: any node takes what is due, and records the answer.
//!
//! Each delivery is a task of its own, and each channel has a few places. A channel that hangs fills its own places; what ends makes
//! room for the next delivery at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::secret_keys::SecretKeys;
use carillon_engine::Engine;
use carillon_engine::runtime::{Service, Step};
use carillon_scheduler::Millis;
use carillon_store::Result;
use carillon_store::alert::deliveries::{Delivery, DeliveryState};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::channel::{Attempt, Channel, Sender};
use crate::message::{Message, MessageKind};

const EVERY: Duration = Duration::from_secs(1);
/// Until another node may take a delivery that was not recorded: longer than a try.
const LEASE: Millis = 30_000;
/// Pauses between two tries: from the first, doubled, to the last.
const FIRST_PAUSE: Millis = 5_000;
const LONGEST_PAUSE: Millis = 600_000;
/// After this time a delivery is given up.
const GIVE_UP: Millis = 86_400_000;

pub struct AlertDeliverer {
    delivery: Arc<DeliveryTask>,
    tasks: TaskTracker,
    /// How many are sent now, by channel. Locked while further ones are taken.
    under_way: Arc<Mutex<BTreeMap<i64, usize>>>,
}

/// What sends one delivery.
struct DeliveryTask {
    engine: Arc<Engine>,
    sender: Arc<Sender>,
    keys: SecretKeys,
    /// There may be something to send, or room for it.
    sends: Arc<Notify>,
    /// Channels are held one after the other: several statements at once would lock the messages of one in different orders.
    holding: Mutex<()>,
}

impl AlertDeliverer {
    pub fn new(engine: Arc<Engine>, sender: Arc<Sender>, keys: SecretKeys, sends: Arc<Notify>) -> Self {
        let delivery = DeliveryTask { engine, sender, keys, sends, holding: Mutex::default() };
        Self { delivery: Arc::new(delivery), tasks: TaskTracker::new(), under_way: Arc::default() }
    }

    /// One round; answers how many deliveries were tried, when all of them have their answer.
    pub async fn round(&self) -> Result<usize> {
        let started = self.start().await?;
        let count = started.len();
        for task in started {
            // A panic is one of a channel alone: the delivery is taken again when its lease is over.
            let _ = task.await;
        }
        Ok(count)
    }

    /// Starts to send what is due, as far as there are places.
    pub async fn start(&self) -> Result<Vec<JoinHandle<()>>> {
        let mut under_way = self.under_way.lock().await;
        let cx = &self.delivery.engine.cx;
        let taken = cx.store.alerts().claim_deliveries(&under_way, LEASE, cx.clock.now()).await?;
        let mut started = vec![];
        for delivery in taken {
            *under_way.entry(delivery.channel_id).or_default() += 1;
            let (task, places) = (self.delivery.clone(), self.under_way.clone());
            started.push(self.tasks.spawn(async move {
                let channel_id = delivery.channel_id;
                // In a task of its own, so that a panic gives its place back too.
                let sent = tokio::spawn({
                    let task = task.clone();
                    async move { task.deliver(&delivery).await }
                });
                if let Ok(Err(error)) = sent.await {
                    tracing::warn!(channel.id = channel_id, %error, "the answer of a channel could not be recorded");
                }
                let mut places = places.lock().await;
                if let Some(count) = places.get_mut(&channel_id) {
                    *count -= 1;
                }
                places.retain(|_, count| *count > 0);
                task.sends.notify_one();
            }));
        }
        Ok(started)
    }

    /// Ends when nothing is sent any more.
    pub async fn drain(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl DeliveryTask {
    async fn deliver(&self, delivery: &Delivery) -> Result<()> {
        let attempt = self.attempt(delivery).await?;
        let (store, now) = (&self.engine.cx.store, self.engine.cx.clock.now());
        let outcome = match attempt {
            Outcome::Tried(Attempt::Delivered { answer }) => {
                store.alerts().finish_delivery(delivery, DeliveryState::Sent, &answer, now).await?;
                "sent"
            }
            Outcome::Tried(Attempt::Again { answer, after, is_down }) if !is_last(delivery, now) => {
                let next_at = now + pause(delivery.attempts, after, rand::random());
                store.alerts().retry_delivery(delivery, next_at, &answer).await?;
                if is_down {
                    self.hold(delivery.channel_id, next_at).await?;
                }
                "retried"
            }
            Outcome::Tried(Attempt::Again { answer, .. }) | Outcome::Refused(answer) => {
                store.alerts().finish_delivery(delivery, DeliveryState::Failed, &answer, now).await?;
                tracing::warn!(channel.id = delivery.channel_id, delivery.id = delivery.id, delivery.answer = ?answer, "a message was given up");
                "failed"
            }
        };
        self.engine.cx.metrics.alert_deliveries.with_label_values(&[outcome]).inc();
        Ok(())
    }

    /// The channel takes nothing until then.
    async fn hold(&self, channel_id: i64, until: Millis) -> Result<()> {
        let _one = self.holding.lock().await;
        match self.engine.cx.store.alerts().hold_channel(channel_id, until).await {
            // Another node holds its messages now, or the next try does.
            Err(error) if error.is_lock_conflict() => Ok(()),
            other => other,
        }
    }

    async fn attempt(&self, delivery: &Delivery) -> Result<Outcome> {
        let again = |answer: String| Ok(Outcome::Tried(Attempt::again(answer)));
        let Some(row) = self.engine.cx.store.alerts().channel(delivery.channel_id).await? else {
            return again("the channel was deleted".to_owned());
        };
        // The channel may have been taken away from the app since the rule was saved.
        if delivery.alert_id.is_some() && !row.is_for(delivery.app_id) {
            return Ok(Outcome::Refused("the app of the alert may not use the channel any more".to_owned()));
        }
        let channel = match Channel::from_row(&row, &self.keys) {
            Ok(channel) => channel,
            Err(why) => return again(why),
        };
        let mut message: Message = match serde_json::from_str(&delivery.message) {
            Ok(message) => message,
            Err(error) => return again(format!("the message cannot be read: {error}")),
        };
        if message.kind == MessageKind::More && delivery.attempts == 1 {
            message.events = self.engine.cx.store.alerts().left_out_since(delivery).await?;
            let text = serde_json::to_string(&message).unwrap_or_default();
            self.engine.cx.store.alerts().set_delivery_message(delivery.id, &text).await?;
        }
        Ok(Outcome::Tried(self.sender.send(&channel, delivery, &message, self.engine.cx.clock.now()).await))
    }
}

/// What became of a delivery.
enum Outcome {
    Tried(Attempt),
    /// It may not be sent, now or later.
    Refused(String),
}

/// A test has an answer at once; all others are tried for a day.
fn is_last(delivery: &Delivery, now: Millis) -> bool {
    delivery.kind == "test" || now - delivery.created_at >= GIVE_UP
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
    /// Deliveries that were started.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let started = self.start().await.map(|started| started.len());
        let did = started.unwrap_or_else(|error| {
            tracing::warn!(%error, "messages could not be sent; the next round goes on");
            0
        });
        // What ends wakes the next round.
        Step { did, next: EVERY }
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.delivery.sends.clone())
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
