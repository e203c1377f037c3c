//! Events become alerts, and alerts become messages: the holder of the first shard does it, a round every two seconds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_engine::Engine;
use carillon_engine::runtime::{Service, Step};
use carillon_scheduler::Millis;
use carillon_store::alert::alerts::Alert;
use carillon_store::alert::due::NewDelivery;
use carillon_store::alert::routing::{ALARMS, Mark, Unrouted};
use carillon_store::alert::rules::AlertRule;
use carillon_store::{Error, Result};
use tokio::sync::{Mutex, Notify};

use crate::flush::decide;
use crate::message::{ITEMS, Message, MessageKind};
use crate::rule_match::matches;
use crate::watch::{self, Memory};

const EVERY: Duration = Duration::from_secs(2);
/// Conditions and ends of alerts are looked for this often.
const WATCH_EVERY: Millis = 10_000;

pub struct AlertRouter {
    engine: Arc<Engine>,
    /// Wakes the deliverer of this node.
    sends: Arc<Notify>,
    /// One round at a time.
    watched: Mutex<Watched>,
}

/// The looks for conditions.
struct Watched {
    /// The last one.
    at: Millis,
    memory: Memory,
}

impl AlertRouter {
    pub fn new(engine: Arc<Engine>, sends: Arc<Notify>) -> Self {
        let watched = Mutex::new(Watched { at: Millis::MIN / 2, memory: Memory::default() });
        Self { engine, sends, watched }
    }

    /// One round; answers how many events were routed.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn round(&self) -> Result<usize> {
        let mut watched = self.watched.lock().await;
        let (store, now) = (&self.engine.cx.store, self.engine.cx.clock.now());
        let mut unrouted = store.unrouted_alarms().await?;
        unrouted.extend(store.unrouted_misfires(now).await?);
        let is_time = (now - watched.at).abs() >= WATCH_EVERY;
        let mut rules = None;
        if is_time || !unrouted.is_empty() {
            // Before further events of a job are counted: a success between two failures ends the row of failures.
            store.close_recovered_alerts(now).await?;
            let all = store.rules_to_match().await?;
            self.route(&all, &unrouted, now).await?;
            if is_time {
                let events = watch::look(store, &all, &mut watched.memory, self.engine.shards(), now).await?;
                if !events.is_empty() {
                    store.record_alert_events(&events, &[], now).await?;
                }
                watched.at = now;
            }
            rules = Some(all);
        }
        self.flush(rules, now).await?;
        Ok(unrouted.len())
    }

    async fn route(&self, rules: &[AlertRule], unrouted: &[Unrouted], now: Millis) -> Result<()> {
        if unrouted.is_empty() {
            return Ok(());
        }
        let events: Vec<_> = unrouted.iter().flat_map(|event| matches(rules, event)).collect();
        let marks: Vec<Mark> = unrouted.iter().map(|event| event.mark).collect();
        match self.engine.cx.store.record_alert_events(&events, &marks, now).await {
            // Another node has routed some of them: the next round sees the rest.
            Err(Error::Busy) => Ok(()),
            other => other,
        }
    }

    async fn flush(&self, rules: Option<Vec<AlertRule>>, now: Millis) -> Result<()> {
        let store = &self.engine.cx.store;
        let due = store.due_alerts(now).await?;
        if due.is_empty() {
            return Ok(());
        }
        let rules = match rules {
            Some(rules) => rules,
            None => store.rules_to_match().await?,
        };
        let rules: HashMap<i64, AlertRule> = rules.into_iter().map(|rule| (rule.id, rule)).collect();
        for alert in &due {
            self.tell(alert, rules.get(&alert.rule_id), now).await?;
        }
        self.sends.notify_one();
        Ok(())
    }

    async fn tell(&self, alert: &Alert, rule: Option<&AlertRule>, now: Millis) -> Result<()> {
        let store = &self.engine.cx.store;
        let mut decision = decide(alert, rule, now);
        if !decision.messages.is_empty() {
            let items = store.alert_items(alert.id, ITEMS).await?;
            let (open, _) = store.count_alert_items(alert.id).await?;
            for (kind, mut channels) in std::mem::take(&mut decision.messages) {
                if kind == MessageKind::Resolved {
                    // The end goes to the channels that got the earlier messages, also if the rule has other channels now.
                    let told = store.channels_told(alert.id).await?;
                    channels = if told.is_empty() { channels } else { told };
                }
                let message = Message::new(kind, alert, items.clone(), open);
                let message = serde_json::to_string(&message).map_err(|error| Error::Corrupt(error.to_string()))?;
                channels.sort_unstable();
                channels.dedup();
                let delivery = |channel_id| NewDelivery { channel_id, kind: kind.as_str(), message: message.clone() };
                decision.told.deliveries.extend(channels.into_iter().map(delivery));
            }
        }
        store.tell_alert(alert, &decision.told, now).await?;
        Ok(())
    }
}

impl Service for AlertRouter {
    const NAME: &'static str = "alerts";
    /// Events that were routed.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        if !self.engine.holds_first_shard() {
            return Step::after(EVERY);
        }
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "alerts could not be routed; the next round goes on");
            0
        });
        let next = if did >= ALARMS as usize { Duration::ZERO } else { EVERY };
        Step { did, next }
    }
}
