//! Alerts end when nothing of what they are about goes on. Only what is in an open alert is looked at.

use std::collections::BTreeMap;

use carillon_scheduler::{AlertKind, Millis};
use foldhash::{HashMap, HashSet, HashSetExt as _};
use sea_orm::QueryResult;

use crate::alert::alerts::AlertState;
use crate::alert::failure_rows::{RECENT_RUN_IDS, SUCCEEDED};
use crate::db::sql::rows::Word;
use crate::error::Result;
use crate::views::AlertStore;

/// Items that are looked at together.
const MOST: i64 = 5_000;
/// What only time can end is over after this long without an event.
const QUIET: Millis = 3_600_000;

row_struct! {
    struct OpenItem {
        alert_id: i64,
        subject: String,
        kind: AlertKind as Word,
        job_id: Option<i64>,
        run_id: Option<i64>,
        last_at: Millis,
    }
}

/// What goes on, as far as the items ask for it.
#[derive(Default)]
struct State {
    jobs: HashSet<i64>,
    paused: HashSet<i64>,
    stuck: HashSet<i64>,
    late: HashSet<i64>,
    /// Jobs whose loops are in trouble.
    loops: HashSet<i64>,
    running: HashSet<i64>,
    /// The newest success of each job.
    succeeded: HashMap<i64, i64>,
    executors: HashSet<String>,
    /// Apps whose enabled jobs have no executor.
    empty_apps: HashSet<String>,
    now: Millis,
}

impl State {
    fn is_over(&self, item: &OpenItem) -> bool {
        let is_quiet = item.last_at < self.now - QUIET;
        if item.job_id.is_some_and(|id| !self.jobs.contains(&id)) {
            return true;
        }
        match item.kind {
            kind if kind.is_outcome() => {
                let last = item.job_id.and_then(|id| self.succeeded.get(&id));
                last.is_some_and(|last| Some(*last) >= item.run_id)
            }
            AlertKind::Paused => item.job_id.is_none_or(|id| !self.paused.contains(&id)),
            AlertKind::Stuck => match item.job_id {
                Some(id) => !self.stuck.contains(&id),
                // About the scheduler: alarms without a job have the id 0.
                None => is_quiet && !self.stuck.contains(&0),
            },
            AlertKind::LateStart => item.job_id.is_none_or(|id| !self.late.contains(&id)),
            AlertKind::Loop => item.job_id.is_none_or(|id| !self.loops.contains(&id)),
            AlertKind::LongRunning => item.run_id.is_none_or(|id| !self.running.contains(&id)),
            AlertKind::ExecutorLost => is_quiet || self.executors.contains(&item.subject),
            // A deleted app, or one whose jobs are switched off, misses none.
            AlertKind::NoExecutor => !self.empty_apps.contains(&item.subject),
            _ => is_quiet,
        }
    }
}

/// What an item about an executor is called.
pub fn executor_subject(app: &str, address: &str) -> String {
    format!("executor:{app}:{address}").chars().take(255).collect()
}

/// What an item about an app without an executor is called.
pub fn app_subject(app_id: i64) -> String {
    format!("app:{app_id}")
}

impl AlertStore<'_> {
    /// Ends the items whose condition is over, and the alerts that have no other; answers how many alerts.
    pub async fn close_recovered(self, now: Millis) -> Result<u64> {
        let (mut closed, mut after) = (0, (0, String::new()));
        loop {
            let rows = self.open_items(&after).await?;
            let Some(last) = rows.last() else {
                return Ok(closed);
            };
            after = (last.try_get_by_index(0)?, last.try_get_by_index(1)?);
            closed += self.close_over(&self.readable("alert", &rows), now).await?;
            if rows.len() < MOST as usize {
                return Ok(closed);
            }
        }
    }

    /// The first of those behind this one.
    async fn open_items(self, (alert_id, subject): &(i64, String)) -> Result<Vec<QueryResult>> {
        let text = "SELECT i.alert_id, i.subject, i.kind, i.job_id, i.run_id, i.last_at FROM alert a JOIN alert_item i ON i.alert_id = a.id \
                    WHERE a.open_key IS NOT NULL AND i.resolved_at IS NULL AND (i.alert_id > ? OR i.alert_id = ? AND i.subject > ?) \
                    ORDER BY i.alert_id, i.subject LIMIT ?";
        self.query(&self.write, text, values![*alert_id, *alert_id, subject.as_str(), MOST]).await
    }

    async fn close_over(self, items: &[OpenItem], now: Millis) -> Result<u64> {
        let state = self.state_of(items, now).await?;
        let mut over: BTreeMap<i64, Vec<&OpenItem>> = BTreeMap::new();
        for item in items.iter().filter(|item| state.is_over(item)) {
            over.entry(item.alert_id).or_default().push(item);
        }
        let mut closed = 0;
        for (alert_id, items) in over {
            closed += self.close_items(alert_id, &items, now).await?;
        }
        Ok(closed)
    }

    async fn state_of(self, items: &[OpenItem], now: Millis) -> Result<State> {
        let of = |wanted: fn(AlertKind) -> bool| items.iter().filter(move |item| wanted(item.kind));
        let jobs = |wanted| of(wanted).filter_map(|item| item.job_id).collect::<Vec<_>>();
        let mut state = State { now, ..State::default() };
        state.jobs = self.ids_among("SELECT id FROM job WHERE id IN ({ids})", &jobs(|_| true)).await?;
        let text = "SELECT id FROM job WHERE id IN ({ids}) AND paused_reason IS NOT NULL";
        state.paused = self.ids_among(text, &jobs(|kind| kind == AlertKind::Paused)).await?;
        let text = "SELECT job_id FROM alarm WHERE job_id IN ({ids}) AND open_at > 0 AND kind = {alarm.stuck}";
        let stuck = of(|kind| kind == AlertKind::Stuck).map(|item| item.job_id.unwrap_or(0)).collect::<Vec<_>>();
        state.stuck = self.ids_among(text, &stuck).await?;
        let text = "SELECT job_id FROM alarm WHERE job_id IN ({ids}) AND open_at > 0 AND kind = {alarm.late_start}";
        state.late = self.ids_among(text, &jobs(|kind| kind == AlertKind::LateStart)).await?;
        let text = "SELECT job_id FROM alarm WHERE job_id IN ({ids}) AND open_at > 0 AND kind = {alarm.loop}";
        state.loops = self.ids_among(text, &jobs(|kind| kind == AlertKind::Loop)).await?;
        let runs: Vec<i64> = of(|kind| kind == AlertKind::LongRunning).filter_map(|item| item.run_id).collect();
        let text = "SELECT id FROM run WHERE id IN ({ids}) AND state IN ({state.sending}, {state.running})";
        state.running = self.ids_among(text, &runs).await?;
        let oldest = of(AlertKind::is_outcome).filter_map(|item| item.run_id).min();
        if let Some(oldest) = oldest {
            let newest: Option<i64> =
                self.tuple::<Option<i64>>(&self.write, "SELECT MAX(id) FROM run", vec![]).await?.flatten();
            let above = (oldest - 1).max(newest.unwrap_or(0) - RECENT_RUN_IDS);
            let text = format!(
                "SELECT job_id, MAX(id) FROM run WHERE id > ? AND {SUCCEEDED} AND job_id IN ({{ids}}) GROUP BY job_id"
            );
            let ids = jobs(AlertKind::is_outcome);
            let rows: Vec<(i64, i64)> = self.tuples(&self.engine_reads, &text, values![above, self.ids(&ids)]).await?;
            state.succeeded = rows.into_iter().collect();
        }
        if of(|kind| kind == AlertKind::ExecutorLost).next().is_some() {
            let text = "SELECT app, address FROM executor WHERE expires_at > ?";
            let rows: Vec<(String, String)> = self.tuples(&self.engine_reads, text, values![now]).await?;
            state.executors = rows.iter().map(|(app, address)| executor_subject(app, address)).collect();
        }
        if of(|kind| kind == AlertKind::NoExecutor).next().is_some() {
            let text = "SELECT a.id FROM app a WHERE NOT EXISTS (SELECT 1 FROM executor e WHERE e.app = a.name AND e.expires_at > ?) \
                        AND EXISTS (SELECT 1 FROM job j WHERE j.app_id = a.id AND j.enabled = TRUE AND j.graph_version IS NULL AND j.http IS NULL)";
            let ids: Vec<i64> = self.tuples(&self.engine_reads, text, values![now]).await?;
            state.empty_apps = ids.into_iter().map(app_subject).collect();
        }
        Ok(state)
    }

    async fn ids_among(self, text: &str, ids: &[i64]) -> Result<HashSet<i64>> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let found: Vec<i64> = self.tuples(&self.engine_reads, text, values![self.ids(ids)]).await?;
        Ok(found.into_iter().collect())
    }

    async fn close_items(self, alert_id: i64, items: &[&OpenItem], now: Millis) -> Result<u64> {
        let tx = self.begin().await?;
        // Routing locks the alert first too.
        let text = "SELECT state FROM alert WHERE id = ? AND open_key IS NOT NULL{for_update}";
        let Some(state) = self.tuple::<i16>(&tx, text, values![alert_id]).await? else {
            return Ok(0);
        };
        for item in items {
            let text = "UPDATE alert_item SET resolved_at = ? WHERE alert_id = ? AND subject = ? AND last_at = ? AND resolved_at IS NULL";
            self.execute(&tx, text, values![now, alert_id, item.subject.as_str(), item.last_at]).await?;
        }
        let text = "SELECT COUNT(*) FROM alert_item WHERE alert_id = ? AND resolved_at IS NULL";
        let left: Option<i64> = self.tuple(&tx, text, values![alert_id]).await?;
        let mut closed = 0;
        if left == Some(0) {
            // One that was never open has no past either: it stays as it is, and the retention takes it.
            let state = if state == AlertState::Pending.code() { AlertState::Pending } else { AlertState::Resolved };
            // A channel that got a message of the alert gets one of its end.
            let text = "UPDATE alert SET state = ?, open_key = NULL, resolved_at = ?, repeat_at = NULL, escalate_at = NULL, \
                        notify_at = CASE WHEN told > 0 THEN ? END, due_at = CASE WHEN told > 0 THEN ? END WHERE id = ?";
            closed = self.execute(&tx, text, values![state.code(), now, now, now, alert_id]).await?;
        }
        tx.commit().await?;
        Ok(closed)
    }
}
