//! An alert that is not over, as routing reads, changes and writes it.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::{AlertKind, Millis};
use foldhash::{HashMap, HashMapExt as _};

use crate::alert::alerts::AlertState;
use crate::alert::event::{AlertEvent, TEXT, distance};
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Conditions;
use crate::db::sql::text::{cut, printable};
use crate::error::Result;
use crate::views::AlertStore;

/// An acknowledgement covers events that begin within this time after it; a later event opens the alert again.
const KNOWN_FOR: Millis = 3_600_000;
/// A message is sent within this time after the event that caused it.
const UNTIL_TOLD: Millis = 60_000;
/// The steps of an alert stay below this number.
pub(super) const MOST_STEPS: i64 = 16;

/// What routing changes of an alert.
#[derive(Clone, Debug)]
pub(super) struct OpenAlert {
    pub(super) id: i64,
    pub(super) is_new: bool,
    is_changed: bool,
    app_id: Option<i64>,
    state: AlertState,
    kind: AlertKind,
    message: String,
    events: i64,
    /// Messages about events, with those of the alerts of its group shortly before it.
    steps: i64,
    opened_at: Millis,
    last_at: Millis,
    told_at: Option<Millis>,
    notify_at: Option<Millis>,
    repeat_at: Option<Millis>,
    escalate_at: Option<Millis>,
    acknowledged_at: Option<Millis>,
    /// Of a pending one: when the last message about an alert of its group went out, and how many there were in a row.
    group_told: Option<(Millis, i64)>,
}

impl OpenAlert {
    pub(super) fn new(id: i64, event: &AlertEvent, now: Millis) -> Self {
        Self {
            id,
            is_new: true,
            is_changed: true,
            app_id: event.app_id,
            state: AlertState::Pending,
            kind: event.kind,
            message: String::new(),
            events: 0,
            steps: 0,
            opened_at: now,
            last_at: now,
            told_at: None,
            notify_at: None,
            repeat_at: None,
            escalate_at: None,
            acknowledged_at: None,
            group_told: None,
        }
    }

    /// One more event, the `count`th of its subject. `joins`: the alert was not about this subject before.
    pub(super) fn count(&mut self, event: &AlertEvent, count: i64, joins: bool, now: Millis) {
        self.is_changed = true;
        self.events += 1;
        self.kind = event.kind;
        let text = match &event.job {
            Some(job) => format!("{job}: {}", event.text),
            None => event.text.clone(),
        };
        self.message = cut(&printable(&text), TEXT);
        self.last_at = self.last_at.max(event.at);
        if event.app_id.is_some() && event.group_key.starts_with("job:") {
            // The job may have moved.
            self.app_id = event.app_id;
        }
        match self.state {
            AlertState::Pending if count >= event.threshold => {
                self.opened_at = now;
                self.follow_group(event, now);
                self.open(event, now);
            }
            AlertState::Open if count >= event.threshold && (joins || self.notify_at.is_none()) => {
                // A job that joins has its message after the first distance, each long run of a job after the growing one.
                let steps = if joins && event.kind != AlertKind::LongRunning { self.steps.min(1) } else { self.steps };
                let next = self.after_the_last(event.group_ms, steps, now);
                self.notify_at = Some(self.notify_at.map_or(next, |at| at.min(next)));
            }
            AlertState::Acknowledged if count == event.threshold && self.was_acknowledged_long_before(now) => {
                self.steps = 0;
                self.open(event, now);
            }
            _ => {}
        }
    }

    fn open(&mut self, event: &AlertEvent, now: Millis) {
        self.state = AlertState::Open;
        self.notify_at = Some(self.after_the_last(event.group_ms, self.steps, now));
        self.escalate_at = event.escalate_after_ms.map(|after| now + after);
    }

    /// A condition that ends and begins repeatedly causes no more messages than one that lasts: the alert continues the row of messages
    /// of the one before it, unless that has been quiet for longer than its next distance.
    fn follow_group(&mut self, event: &AlertEvent, now: Millis) {
        let is_recent = |(at, steps): &(Millis, i64)| now < at + distance(event.group_ms, steps + 1);
        if let Some((told_at, steps)) = self.group_told.filter(is_recent) {
            (self.told_at, self.steps) = (Some(told_at), steps);
        }
    }

    fn after_the_last(&self, group_ms: i64, steps: i64, now: Millis) -> Millis {
        let last = self.told_at.filter(|_| steps > 0);
        last.map_or(now, |told_at| now.max(told_at + distance(group_ms, steps)))
    }

    fn was_acknowledged_long_before(&self, now: Millis) -> bool {
        self.acknowledged_at.is_some_and(|at| now - at >= KNOWN_FOR)
    }

    fn due_at(&self) -> Option<Millis> {
        [self.notify_at, self.repeat_at, self.escalate_at].into_iter().flatten().min()
    }
}

impl AlertStore<'_> {
    pub(super) async fn open_alerts(self, tx: &Transaction, keys: &[&str]) -> Result<HashMap<String, OpenAlert>> {
        let mut conditions = Conditions::default();
        conditions.among("open_key", keys.iter().copied());
        let (filter, values) = conditions.finish();
        let text = format!(
            "SELECT id, open_key, app_id, state, kind, message, events, steps, opened_at, last_at, told_at, notify_at, repeat_at, \
             escalate_at, acknowledged_at FROM alert{filter} ORDER BY id{{for_update}}"
        );
        let mut found = HashMap::new();
        for row in self.query(tx, &text, values).await? {
            let alert = OpenAlert {
                id: row.try_get("", "id")?,
                is_new: false,
                is_changed: false,
                app_id: row.try_get("", "app_id")?,
                state: AlertState::from_code(row.try_get("", "state")?).unwrap_or(AlertState::Resolved),
                // A newer version may have written another: it is that of the latest event, and the next one replaces it.
                kind: row.try_get::<String>("", "kind")?.parse().unwrap_or(AlertKind::Stuck),
                message: row.try_get("", "message")?,
                events: row.try_get("", "events")?,
                steps: row.try_get("", "steps")?,
                opened_at: row.try_get("", "opened_at")?,
                last_at: row.try_get("", "last_at")?,
                told_at: row.try_get("", "told_at")?,
                notify_at: row.try_get("", "notify_at")?,
                repeat_at: row.try_get("", "repeat_at")?,
                escalate_at: row.try_get("", "escalate_at")?,
                acknowledged_at: row.try_get("", "acknowledged_at")?,
                group_told: None,
            };
            found.insert(row.try_get("", "open_key")?, alert);
        }
        Ok(found)
    }

    /// An alert that may open now keeps its distance from messages about the one before it.
    pub(super) async fn add_group_times(
        self,
        tx: &Transaction,
        groups: &BTreeMap<String, &AlertEvent>,
        alerts: &mut HashMap<String, OpenAlert>,
        now: Millis,
    ) -> Result<()> {
        let is_pending = |key: &String| alerts.get(key).is_some_and(|alert| alert.state == AlertState::Pending);
        let pending: Vec<&AlertEvent> =
            groups.iter().filter(|(key, _)| is_pending(key)).map(|(_, event)| *event).collect();
        let Some(longest) = pending.iter().map(|event| distance(event.group_ms, i64::MAX)).max() else {
            return Ok(());
        };
        let mut conditions = Conditions::default();
        conditions.among("rule_id", pending.iter().map(|event| event.rule_id).collect::<BTreeSet<_>>());
        conditions.among("group_key", pending.iter().map(|event| event.group_key.as_str()).collect::<BTreeSet<_>>());
        conditions.add("last_at > ? AND told_at > 0", [(now - longest - UNTIL_TOLD).into()]);
        let (filter, values) = conditions.finish();
        // Both in one number, so that the steps are those of the newest message.
        let text = format!(
            "SELECT rule_id, group_key, MAX(told_at * {MOST_STEPS} + steps) FROM alert{filter} GROUP BY rule_id, group_key"
        );
        for (rule_id, group_key, told) in self.tuples::<(i64, String, i64)>(tx, &text, values).await? {
            if let Some(alert) = alerts.get_mut(&format!("{rule_id}:{group_key}")) {
                alert.group_told = Some((told / MOST_STEPS, told % MOST_STEPS));
            }
        }
        Ok(())
    }

    pub(super) async fn write_alerts(
        self,
        tx: &Transaction,
        groups: &BTreeMap<String, &AlertEvent>,
        alerts: &HashMap<String, OpenAlert>,
    ) -> Result<()> {
        let mut new = vec![];
        for (key, alert) in alerts.iter().filter(|(_, alert)| alert.is_changed) {
            let it = alert.clone();
            if alert.is_new {
                let Some(event) = groups.get(key) else { continue };
                new.push(values![
                    it.id,
                    event.rule_id,
                    event.group_key.as_str(),
                    key.as_str(),
                    event.app_id,
                    it.state.code(),
                    it.kind.as_str(),
                    it.message,
                    it.events,
                    0_i64,
                    it.steps,
                    it.opened_at,
                    it.last_at,
                    it.told_at,
                    it.notify_at,
                    it.escalate_at,
                    alert.due_at()
                ]);
                continue;
            }
            let OpenAlert {
                app_id, message, events, steps, opened_at, last_at, told_at, notify_at, escalate_at, ..
            } = it;
            let set = named![app_id, state: it.state.code(), kind: it.kind.as_str(), message, events, steps, opened_at,
                last_at, told_at, notify_at, escalate_at, due_at: alert.due_at()];
            self.update_columns(tx, "alert", set, (" WHERE id = ?", values![it.id])).await?;
        }
        let columns = "id, rule_id, group_key, open_key, app_id, state, kind, message, events, told, steps, opened_at, last_at, \
                       told_at, notify_at, escalate_at, due_at";
        self.insert_rows(tx, "alert", columns, new).await
    }
}
