//! Events become alerts, and alerts become messages: the holder of the first shard does it, a round every two seconds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_engine::Engine;
use carillon_engine::runtime::{Service, Step};
use carillon_scheduler::{AlertKind, Millis};
use carillon_store::alert::alerts::{Alert, AlertState};
use carillon_store::alert::deliveries::NewDelivery;
use carillon_store::alert::outage::Explained;
use carillon_store::alert::routing::{ALARMS, Mark, Unrouted};
use carillon_store::alert::rules::AlertRule;
use carillon_store::{Error, Result};
use tokio::sync::{Mutex, Notify};

use crate::channel::ChannelKind;
use crate::flush::decide;
use crate::message::{About, ITEMS, Links, Message, MessageKind};
use crate::rule_match::matches;
use crate::watch::{self, Memory};

const EVERY: Duration = Duration::from_secs(2);
/// Conditions and ends of alerts are looked for this often.
const WATCH_EVERY: Millis = 10_000;

pub struct AlertRouter {
    engine: Arc<Engine>,
    /// Wakes the deliverer of this node.
    sends: Arc<Notify>,
    /// What messages lead to.
    links: Links,
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
    pub fn new(engine: Arc<Engine>, sends: Arc<Notify>, links: Links) -> Self {
        let watched = Mutex::new(Watched { at: Millis::MIN / 2, memory: Memory::default() });
        Self { engine, sends, links, watched }
    }

    /// One round; answers how many events were routed.
    pub async fn round(&self) -> Result<usize> {
        let mut watched = self.watched.lock().await;
        let (store, now) = (&self.engine.cx.store, self.engine.cx.clock.now());
        let mut unrouted = store.alerts().unrouted_alarms().await?;
        unrouted.extend(store.alerts().unrouted_misfires(now).await?);
        let is_time = (now - watched.at).abs() >= WATCH_EVERY;
        let mut rules = None;
        if is_time || !unrouted.is_empty() {
            // Before further events of a job are counted: a success between two failures ends the row of failures.
            store.alerts().close_recovered(now).await?;
            let all = store.alerts().rules_to_match().await?;
            self.route(&all, &unrouted, now).await?;
            if is_time {
                let (shards, in_grace) = (self.engine.shards(), self.engine.is_in_lease_grace());
                let events = watch::look(store, &all, &mut watched.memory, shards, in_grace, now).await?;
                if !events.is_empty() {
                    store.alerts().record_events(&events, &[], now).await?;
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
        match self.engine.cx.store.alerts().record_events(&events, &marks, now).await {
            // Another node has routed some of them: the next round sees the rest.
            Err(Error::Busy) => Ok(()),
            other => other,
        }
    }

    async fn flush(&self, rules: Option<Vec<AlertRule>>, now: Millis) -> Result<()> {
        let store = &self.engine.cx.store;
        let due = store.alerts().due(now).await?;
        if due.is_empty() {
            return Ok(());
        }
        let rules = match rules {
            Some(rules) => rules,
            None => store.alerts().rules_to_match().await?,
        };
        let rules: HashMap<i64, AlertRule> = rules.into_iter().map(|rule| (rule.id, rule)).collect();
        for alert in &due {
            self.notify(alert, rules.get(&alert.rule_id), now).await?;
        }
        self.sends.notify_one();
        Ok(())
    }

    async fn notify(&self, alert: &Alert, rule: Option<&AlertRule>, now: Millis) -> Result<()> {
        let store = &self.engine.cx.store;
        let mut decision = decide(alert, rule, self.explained(alert, rule, now).await?, now);
        if !decision.messages.is_empty() {
            let items = store.alerts().items(alert.id, ITEMS).await?;
            let (open_items, all_items) = store.alerts().count_items(alert.id).await?;
            let about = About { items, open_items, all_items };
            let summary = written(&Message::more(&self.links, now))?;
            for (kind, mut channels) in std::mem::take(&mut decision.messages) {
                if kind == MessageKind::Resolved {
                    channels = self.channels_of_end(alert, rule, open_items, channels).await?;
                }
                let message = written(&Message::new(kind, alert, &about, &self.links))?;
                channels.sort_unstable();
                channels.dedup();
                let delivery = |channel_id| NewDelivery {
                    channel_id,
                    kind: kind.as_str(),
                    message: message.clone(),
                    summary: summary.clone(),
                };
                decision.told.deliveries.extend(channels.into_iter().map(delivery));
            }
        }
        store.alerts().record_notification(alert, &decision.told, now).await?;
        Ok(())
    }

    /// Whether the alert about an app without an executor explains the failures of its jobs: one of the same rule, so that the same
    /// people have got it.
    async fn explained(&self, alert: &Alert, rule: Option<&AlertRule>, now: Millis) -> Result<Explained> {
        let kinds = rule.map_or(&[][..], |rule| &rule.definition.kinds);
        if !kinds.contains(&AlertKind::NoExecutor) || alert.state != AlertState::Open {
            return Ok(Explained::No);
        }
        self.engine.cx.store.alerts().explained(alert, kinds, now).await
    }

    /// The end goes to the channels that got the earlier messages, also if the rule has other channels now. The end of an alert whose rule
    /// was deleted, moved or switched off is no recovery: it goes only to channels that keep incidents.
    async fn channels_of_end(
        &self,
        alert: &Alert,
        rule: Option<&AlertRule>,
        open_items: i64,
        of_rule: Vec<i64>,
    ) -> Result<Vec<i64>> {
        let is_recovery = rule.is_some_and(|rule| rule.enabled) && open_items == 0;
        let Some(told) = self.engine.cx.store.alerts().notified_channels(alert.id).await? else {
            return Ok(of_rule);
        };
        let keeps_incidents = |kind: &str| kind == ChannelKind::Pagerduty.as_str();
        Ok(told.into_iter().filter(|(_, kind)| is_recovery || keeps_incidents(kind)).map(|(id, _)| id).collect())
    }
}

fn written(message: &Message) -> Result<String> {
    serde_json::to_string(message).map_err(|error| Error::Corrupt(error.to_string()))
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
