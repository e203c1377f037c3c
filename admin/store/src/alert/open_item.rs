//! What an open alert is about, as routing reads, changes and writes it.

use std::collections::BTreeSet;

use carillon_scheduler::Millis;
use foldhash::{HashMap, HashMapExt as _};

use crate::alert::event::{AlertEvent, TEXT};
use crate::alert::failure_rows::FailureRows;
use crate::alert::open_alert::OpenAlert;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Conditions;
use crate::db::sql::text::{cut, printable};
use crate::error::Result;
use crate::views::AlertStore;

/// A job, an executor or a condition of an alert.
pub(super) struct OpenItem {
    is_new: bool,
    is_changed: bool,
    events: i64,
    last_at: Millis,
    is_resolved: bool,
    /// Of the event that was counted last.
    pub(super) run_id: Option<i64>,
    event: AlertEvent,
    first_at: Millis,
}

/// Counts one event in its item and its alert.
pub(super) fn count(
    event: &AlertEvent,
    alerts: &mut HashMap<String, OpenAlert>,
    items: &mut HashMap<(i64, String), OpenItem>,
    rows: &FailureRows,
    now: Millis,
) {
    let Some(alert) = alerts.get_mut(&event.open_key()) else { return };
    let item = items.entry((alert.id, event.subject.clone())).or_insert_with(|| OpenItem {
        is_new: true,
        is_changed: false,
        events: 0,
        last_at: Millis::MIN,
        is_resolved: false,
        run_id: None,
        event: event.clone(),
        first_at: event.at,
    });
    // Another node may have begun to look at a later time.
    let goes_on = item.events > 0 && !item.is_resolved;
    if event.is_lasting && (goes_on || item.last_at >= event.at) {
        return;
    }
    if item.is_resolved {
        (item.events, item.first_at, item.is_resolved) = (0, event.at, false);
    }
    item.is_changed = true;
    item.events = match event.threshold {
        1 => item.events + 1,
        _ => rows.count(item.events, item.run_id, event),
    };
    item.run_id = event.run_id;
    item.last_at = event.at;
    item.event = event.clone();
    let events = item.events;
    let joins = if event.threshold == 1 { item.is_new && events == 1 } else { events == event.threshold };
    alert.count(event, events, joins, now);
}

impl AlertStore<'_> {
    pub(super) async fn items_of(
        self,
        tx: &Transaction,
        alerts: &HashMap<String, OpenAlert>,
        events: &[AlertEvent],
    ) -> Result<HashMap<(i64, String), OpenItem>> {
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
        conditions.among("subject", events.iter().map(|event| event.subject.as_str()).collect::<BTreeSet<_>>());
        let (filter, values) = conditions.finish();
        let text =
            format!("SELECT alert_id, subject, run_id, events, last_at, first_at, resolved_at FROM alert_item{filter}");
        type Row = (i64, String, Option<i64>, i64, Millis, Millis, Option<Millis>);
        let mut items = HashMap::new();
        let rows: Vec<Row> = self.tuples(tx, &text, values).await?;
        for (alert_id, subject, run_id, count, last_at, first_at, resolved_at) in rows {
            let Some(event) = by_subject.get(&(alert_id, subject.as_str())) else {
                continue;
            };
            let event = (*event).clone();
            let is_resolved = resolved_at.is_some();
            let (is_new, is_changed, events) = (false, false, count);
            let item = OpenItem { is_new, is_changed, events, last_at, is_resolved, run_id, event, first_at };
            items.insert((alert_id, subject), item);
        }
        Ok(items)
    }

    pub(super) async fn write_items(self, tx: &Transaction, items: HashMap<(i64, String), OpenItem>) -> Result<()> {
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
