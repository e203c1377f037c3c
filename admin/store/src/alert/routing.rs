//! Events become alerts. In one transaction an alert of each group is opened or counts the event, and the marks of the events are
//! cleared: an event is counted once, also when two nodes route or one of them dies.

use std::collections::BTreeMap;

use carillon_scheduler::{AlarmKind, AlertKind, Millis};

pub use crate::alert::event::{AlertEvent, Mark, Unrouted};
use crate::alert::open_alert::OpenAlert;
use crate::alert::open_item::count;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::long;
use crate::error::{Error, Result};
use crate::views::AlertStore;

/// Alarms of one round; the others are in the next one.
pub const ALARMS: i64 = 500;
const MISFIRES: i64 = 200;

pub(crate) static CLEAR_MARKS: Bulk = Bulk::update(
    &[long("id")],
    Update {
        table: "alarm",
        index: "PRIMARY",
        on: "alarm.id = u.id",
        set: &[("unrouted_at", "NULL")],
        only_if: "{+alarm.unrouted_at} > 0",
    },
);

impl AlertStore<'_> {
    /// Alarms that no rule has looked at, oldest first.
    pub async fn unrouted_alarms(self) -> Result<Vec<Unrouted>> {
        let text = "SELECT a.id, a.kind, a.job_id, j.name, j.app_id, a.run_id, a.message, a.created_at FROM alarm a LEFT JOIN job j ON j.id = a.job_id \
                    WHERE a.unrouted_at > 0 ORDER BY a.unrouted_at, a.id LIMIT ?";
        type Row = (i64, String, i64, Option<String>, Option<i64>, Option<i64>, String, Millis);
        let rows: Vec<Row> = self.tuples(&self.write, text, values![ALARMS]).await?;
        let kind = |row: &Row| row.1.parse::<AlarmKind>().ok();
        let unknown: Vec<i64> = rows.iter().filter(|row| kind(row).is_none()).map(|row| row.0).collect();
        if !unknown.is_empty() {
            // A newer version has written them, or a person: no rule knows their kind, and they must not keep the others waiting.
            unknown.iter().for_each(|id| self.set_aside.note("alarm", *id, "its kind is not known".into()));
            self.bulk(&self.write, &CLEAR_MARKS, &[], &unknown).await?;
        }
        let unrouted = |row: Row| {
            let kind = kind(&row)?;
            let (id, _, job_id, job, app_id, run_id, text, at) = row;
            Some(Unrouted {
                mark: Mark::Alarm { id },
                kind: kind.into(),
                job_id: Some(job_id).filter(|id| *id != 0),
                job,
                app_id,
                run_id,
                text,
                at,
            })
        };
        Ok(rows.into_iter().filter_map(unrouted).collect())
    }

    /// Skipped ranges that no rule has looked at.
    pub async fn unrouted_misfires(self, now: Millis) -> Result<Vec<Unrouted>> {
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
    pub async fn record_events(self, events: &[AlertEvent], routed: &[Mark], now: Millis) -> Result<()> {
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
            self.add_group_times(&tx, &groups, &mut alerts, now).await?;
            let mut items = self.items_of(&tx, &alerts, events).await?;
            let rows = self.failure_rows(&tx, events, items.values().filter_map(|item| item.run_id)).await?;
            for event in events {
                count(event, &mut alerts, &mut items, &rows, now);
            }
            self.write_alerts(&tx, &groups, &alerts).await?;
            self.write_items(&tx, items).await?;
        }
        tx.commit().await.map_err(Into::into)
    }

    async fn clear_marks(self, tx: &Transaction, routed: &[Mark]) -> Result<()> {
        let alarms: Vec<i64> =
            routed.iter().filter_map(|mark| if let Mark::Alarm { id } = mark { Some(*id) } else { None }).collect();
        for chunk in alarms.chunks(ALARMS as usize) {
            if self.bulk(tx, &CLEAR_MARKS, &[], chunk).await? != chunk.len() as u64 {
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
}
