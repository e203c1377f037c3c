//! Events become alerts. In one transaction an alert of each group is opened or counts the event, and the marks of the events are
//! cleared: an event is counted once, also when two nodes route or one of them dies.

use std::collections::{BTreeMap, HashMap};

use carillon_scheduler::{AlarmKind, AlertKind, Millis};

use crate::alert::alerts::AlertState;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Conditions;
use crate::db::sql::rows::Word;
use crate::db::sql::text::{cut, printable};
use crate::error::{Error, Result};
use crate::store::Store;

/// Alarms of one round; the others are in the next one.
pub const ALARMS: i64 = 500;
const MISFIRES: i64 = 200;
/// Kept of a text, in bytes.
const TEXT: usize = 1_000;

/// An alarm or a misfire that no rule has looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrouted {
    pub mark: Mark,
    pub kind: AlertKind,
    pub job_id: Option<i64>,
    pub job: Option<String>,
    pub app_id: Option<i64>,
    pub run_id: Option<i64>,
    pub text: String,
    pub at: Millis,
}

/// The row whose mark is to be cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Alarm { id: i64 },
    Misfire { job_id: i64, from_at: Millis },
}

/// An event that a rule has matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertEvent {
    pub rule_id: i64,
    /// `rule`, `app:7` or `job:12`.
    pub group_key: String,
    pub app_id: Option<i64>,
    /// What it is about within the group.
    pub subject: String,
    pub kind: AlertKind,
    pub job_id: Option<i64>,
    /// The job's name.
    pub job: Option<String>,
    pub run_id: Option<i64>,
    pub text: String,
    pub at: Millis,
    /// Events in a row before the alert opens.
    pub threshold: i64,
    /// The condition lasts since `at`: it counts once, however often it is seen.
    pub is_lasting: bool,
    /// From the first message to that of the second list of channels.
    pub escalate_after_ms: Option<i64>,
    /// Between two messages about further events.
    pub group_ms: i64,
}

impl AlertEvent {
    fn open_key(&self) -> String {
        format!("{}:{}", self.rule_id, self.group_key)
    }
}

/// What routing changes of an alert.
#[derive(Clone, Debug)]
struct OpenAlert {
    id: i64,
    is_new: bool,
    is_changed: bool,
    state: AlertState,
    kind: AlertKind,
    message: String,
    events: i64,
    opened_at: Millis,
    last_at: Millis,
    told_at: Option<Millis>,
    notify_at: Option<Millis>,
    repeat_at: Option<Millis>,
    escalate_at: Option<Millis>,
}

struct Item {
    is_new: bool,
    is_changed: bool,
    events: i64,
    last_at: Millis,
    is_resolved: bool,
    event: AlertEvent,
    first_at: Millis,
}

impl OpenAlert {
    fn new(id: i64, event: &AlertEvent, now: Millis) -> Self {
        Self {
            id,
            is_new: true,
            is_changed: true,
            state: AlertState::Pending,
            kind: event.kind,
            message: String::new(),
            events: 0,
            opened_at: now,
            last_at: now,
            told_at: None,
            notify_at: None,
            repeat_at: None,
            escalate_at: None,
        }
    }

    /// One more event, the `count`th of its subject.
    fn count(&mut self, event: &AlertEvent, count: i64, now: Millis) {
        self.is_changed = true;
        self.events += 1;
        self.kind = event.kind;
        let text = match &event.job {
            Some(job) => format!("{job}: {}", event.text),
            None => event.text.clone(),
        };
        self.message = cut(&printable(&text), TEXT);
        self.last_at = self.last_at.max(event.at);
        match self.state {
            AlertState::Pending if count >= event.threshold => {
                self.state = AlertState::Open;
                self.opened_at = now;
                self.notify_at = Some(now);
                self.escalate_at = event.escalate_after_ms.map(|after| now + after);
            }
            AlertState::Open if self.notify_at.is_none() => {
                self.notify_at = Some(self.told_at.map_or(now, |told_at| now.max(told_at + event.group_ms)));
            }
            _ => {}
        }
    }

    fn due_at(&self) -> Option<Millis> {
        [self.notify_at, self.repeat_at, self.escalate_at].into_iter().flatten().min()
    }
}

impl Store {
    /// Alarms that no rule has looked at, oldest first.
    pub async fn unrouted_alarms(&self) -> Result<Vec<Unrouted>> {
        let text = "SELECT a.id, a.kind, a.job_id, j.name, j.app_id, a.run_id, a.message, a.created_at FROM alarm a LEFT JOIN job j ON j.id = a.job_id \
                    WHERE a.unrouted_at > 0 ORDER BY a.unrouted_at, a.id LIMIT ?";
        type Row = (i64, Word<AlarmKind>, i64, Option<String>, Option<i64>, Option<i64>, String, Millis);
        let rows: Vec<Row> = self.tuples(&self.write, text, values![ALARMS]).await?;
        let unrouted = |(id, Word(kind), job_id, job, app_id, run_id, text, at): Row| Unrouted {
            mark: Mark::Alarm { id },
            kind: kind.into(),
            job_id: Some(job_id).filter(|id| *id != 0),
            job,
            app_id,
            run_id,
            text,
            at,
        };
        Ok(rows.into_iter().map(unrouted).collect())
    }

    /// Skipped ranges that no rule has looked at.
    pub async fn unrouted_misfires(&self, now: Millis) -> Result<Vec<Unrouted>> {
        let text = "SELECT m.job_id, m.from_at, m.count, j.name, j.app_id FROM misfire m LEFT JOIN job j ON j.id = m.job_id \
                    WHERE m.unrouted_at > 0 ORDER BY m.unrouted_at LIMIT ?";
        type Row = (i64, Millis, i32, Option<String>, Option<i64>);
        let rows: Vec<Row> = self.tuples(&self.write, text, values![MISFIRES]).await?;
        let unrouted = |(job_id, from_at, count, job, app_id): Row| Unrouted {
            mark: Mark::Misfire { job_id, from_at },
            kind: AlertKind::Misfire,
            job_id: Some(job_id),
            job,
            app_id,
            run_id: None,
            text: format!("{count} instant{} skipped", if count == 1 { " was" } else { "s were" }),
            at: now,
        };
        Ok(rows.into_iter().map(unrouted).collect())
    }

    /// Counts events and clears the marks of what they come from.
    ///
    /// # Errors
    /// `Busy`: another node has routed some of them.
    pub async fn record_alert_events(&self, events: &[AlertEvent], routed: &[Mark], now: Millis) -> Result<()> {
        let groups: BTreeMap<String, &AlertEvent> = events.iter().map(|event| (event.open_key(), event)).collect();
        // On SQLite there is no second writer, so ids are taken before the transaction begins.
        let mut ids = self.take_ids(&ids::ROW, groups.len()).await?;
        let tx = self.begin().await?;
        self.clear_marks(&tx, routed).await?;
        if !events.is_empty() {
            let keys: Vec<&str> = groups.keys().map(String::as_str).collect();
            let mut alerts = self.open_alerts(&tx, &keys).await?;
            for (key, event) in &groups {
                if !alerts.contains_key(key) {
                    let id = ids.pop().ok_or(Error::Busy)?;
                    alerts.insert(key.clone(), OpenAlert::new(id, event, now));
                }
            }
            let mut items = self.items_of(&tx, &alerts, events).await?;
            for event in events {
                count(event, &mut alerts, &mut items, now);
            }
            self.write_alerts(&tx, &groups, &alerts).await?;
            self.write_items(&tx, items).await?;
        }
        tx.commit().await.map_err(Into::into)
    }

    async fn clear_marks(&self, tx: &Transaction, routed: &[Mark]) -> Result<()> {
        let alarms: Vec<i64> =
            routed.iter().filter_map(|mark| if let Mark::Alarm { id } = mark { Some(*id) } else { None }).collect();
        for chunk in alarms.chunks(ALARMS as usize) {
            // As literals: MariaDB walks the whole table for `UPDATE … WHERE id IN (SELECT …)`.
            let list: Vec<String> = chunk.iter().map(i64::to_string).collect();
            let text =
                format!("UPDATE alarm SET unrouted_at = NULL WHERE id IN ({}) AND unrouted_at > 0", list.join(","));
            if self.execute(tx, &text, vec![]).await? != chunk.len() as u64 {
                return Err(Error::Busy);
            }
        }
        for mark in routed {
            if let Mark::Misfire { job_id, from_at } = mark {
                let text = "UPDATE misfire SET unrouted_at = NULL WHERE job_id = ? AND from_at = ? AND unrouted_at > 0";
                if self.execute(tx, text, values![*job_id, *from_at]).await? != 1 {
                    return Err(Error::Busy);
                }
            }
        }
        Ok(())
    }

    async fn open_alerts(&self, tx: &Transaction, keys: &[&str]) -> Result<HashMap<String, OpenAlert>> {
        let mut conditions = Conditions::default();
        conditions.among("open_key", keys.iter().copied());
        let (filter, values) = conditions.finish();
        let text = format!(
            "SELECT id, open_key, state, kind, message, events, opened_at, last_at, told_at, notify_at, repeat_at, escalate_at \
             FROM alert{filter} ORDER BY id{{for_update}}"
        );
        let mut found = HashMap::new();
        for row in self.query(tx, &text, values).await? {
            let alert = OpenAlert {
                id: row.try_get("", "id")?,
                is_new: false,
                is_changed: false,
                state: AlertState::from_code(row.try_get("", "state")?),
                kind: row.try_get::<Word<AlertKind>>("", "kind")?.0,
                message: row.try_get("", "message")?,
                events: row.try_get("", "events")?,
                opened_at: row.try_get("", "opened_at")?,
                last_at: row.try_get("", "last_at")?,
                told_at: row.try_get("", "told_at")?,
                notify_at: row.try_get("", "notify_at")?,
                repeat_at: row.try_get("", "repeat_at")?,
                escalate_at: row.try_get("", "escalate_at")?,
            };
            found.insert(row.try_get("", "open_key")?, alert);
        }
        Ok(found)
    }

    async fn items_of(
        &self,
        tx: &Transaction,
        alerts: &HashMap<String, OpenAlert>,
        events: &[AlertEvent],
    ) -> Result<HashMap<(i64, String), Item>> {
        let by_subject: HashMap<(i64, &str), &AlertEvent> = events
            .iter()
            .filter_map(|event| Some(((alerts.get(&event.open_key())?.id, event.subject.as_str()), event)))
            .collect();
        let mut conditions = Conditions::default();
        let old = alerts.values().filter(|alert| !alert.is_new).map(|alert| alert.id);
        let old: Vec<i64> = old.collect();
        if old.is_empty() {
            return Ok(HashMap::new());
        }
        conditions.among("alert_id", old);
        conditions.among(
            "subject",
            events.iter().map(|event| event.subject.as_str()).collect::<std::collections::BTreeSet<_>>(),
        );
        let (filter, values) = conditions.finish();
        let text = format!("SELECT alert_id, subject, events, last_at, first_at, resolved_at FROM alert_item{filter}");
        type Row = (i64, String, i64, Millis, Millis, Option<Millis>);
        let mut items = HashMap::new();
        for (alert_id, subject, count, last_at, first_at, resolved_at) in self.tuples::<Row>(tx, &text, values).await? {
            let Some(event) = by_subject.get(&(alert_id, subject.as_str())) else {
                continue;
            };
            let event = (*event).clone();
            let is_resolved = resolved_at.is_some();
            let item = Item { is_new: false, is_changed: false, events: count, last_at, is_resolved, event, first_at };
            items.insert((alert_id, subject), item);
        }
        Ok(items)
    }

    async fn write_alerts(
        &self,
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
                    it.opened_at,
                    it.last_at,
                    it.notify_at,
                    it.escalate_at,
                    alert.due_at()
                ]);
                continue;
            }
            let text = "UPDATE alert SET state = ?, kind = ?, message = ?, events = ?, opened_at = ?, last_at = ?, notify_at = ?, escalate_at = ?, \
                        due_at = ? WHERE id = ?";
            let values = values![
                it.state.code(),
                it.kind.as_str(),
                it.message,
                it.events,
                it.opened_at,
                it.last_at,
                it.notify_at,
                it.escalate_at,
                alert.due_at(),
                it.id
            ];
            self.execute(tx, text, values).await?;
        }
        let columns = "id, rule_id, group_key, open_key, app_id, state, kind, message, events, told, opened_at, last_at, notify_at, escalate_at, due_at";
        self.insert_rows(tx, "alert", columns, new).await
    }

    async fn write_items(&self, tx: &Transaction, items: HashMap<(i64, String), Item>) -> Result<()> {
        let mut new = vec![];
        for ((alert_id, subject), item) in items.into_iter().filter(|(_, item)| item.is_changed) {
            let AlertEvent { kind, job_id, run_id, text: message, at, .. } = item.event;
            let message = cut(&printable(&message), TEXT);
            if item.is_new {
                new.push(values![
                    alert_id,
                    subject,
                    kind.as_str(),
                    job_id,
                    run_id,
                    message,
                    item.events,
                    item.first_at,
                    at
                ]);
                continue;
            }
            let text = "UPDATE alert_item SET kind = ?, run_id = ?, message = ?, events = ?, first_at = ?, last_at = ?, resolved_at = NULL \
                        WHERE alert_id = ? AND subject = ?";
            let values = values![kind.as_str(), run_id, message, item.events, item.first_at, at, alert_id, subject];
            self.execute(tx, text, values).await?;
        }
        let columns = "alert_id, subject, kind, job_id, run_id, message, events, first_at, last_at";
        self.insert_rows(tx, "alert_item", columns, new).await
    }
}

/// Counts one event in its item and its alert.
fn count(
    event: &AlertEvent,
    alerts: &mut HashMap<String, OpenAlert>,
    items: &mut HashMap<(i64, String), Item>,
    now: Millis,
) {
    let Some(alert) = alerts.get_mut(&event.open_key()) else { return };
    let item = items.entry((alert.id, event.subject.clone())).or_insert_with(|| Item {
        is_new: true,
        is_changed: false,
        events: 0,
        last_at: Millis::MIN,
        is_resolved: false,
        event: event.clone(),
        first_at: event.at,
    });
    if event.is_lasting && item.last_at >= event.at {
        return;
    }
    if item.is_resolved {
        (item.events, item.first_at, item.is_resolved) = (0, event.at, false);
    }
    item.is_changed = true;
    item.events += 1;
    item.last_at = event.at;
    item.event = event.clone();
    let events = item.events;
    alert.count(event, events, now);
}
