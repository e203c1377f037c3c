//! What else grows: audit lines, alarms, remembered keys, sessions, and what belonged to jobs that are gone.

use carillon_scheduler::Millis;

use crate::error::Result;
use crate::views::RetentionStore;

const DAY: Millis = 86_400_000;
/// Retention of audit entries, and of idempotency keys in days.
pub(crate) const AUDIT_MS: Millis = 365 * DAY;
const KEY_DAYS: i64 = 7;
/// Rows that one statement deletes.
const AT_ONCE: i64 = 200;

/// In the order of the index: PostgreSQL would read the whole table, expecting that many old rows at its beginning.
pub(crate) const OLD_ALARMS: &str = "SELECT id FROM alarm WHERE created_at < ? ORDER BY created_at LIMIT ?";
pub(crate) const OLD_ALERTS: &str =
    "SELECT id FROM alert WHERE last_at < ? AND open_key IS NULL ORDER BY last_at LIMIT ?";
pub(crate) const OLD_DELIVERIES: &str =
    "SELECT id FROM alert_delivery WHERE created_at < ? AND next_at IS NULL ORDER BY created_at LIMIT ?";
pub(crate) const OLD_AUDIT: &str = "SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?";
pub(crate) const OLD_KEYS: &str =
    "SELECT request_key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?";
pub(crate) const OLD_SESSIONS: &str = "SELECT id_hash FROM session WHERE expires_at < ? ORDER BY expires_at LIMIT ?";
pub(crate) const OLD_THROTTLES: &str =
    "SELECT subject FROM login_throttle WHERE until_at < ? ORDER BY until_at LIMIT ?";

impl RetentionStore<'_> {
    /// Deletes what is old, a few rows a statement, until nothing old is left; answers how many. Alarms and alerts are kept for
    /// `alarm_days`, 0: without end.
    pub async fn prune_rest(self, alarm_days: i32, now: Millis) -> Result<u64> {
        let mut done = 0;
        if alarm_days > 0 {
            let before = now - i64::from(alarm_days) * DAY;
            done += self.prune_by_id("alarm", OLD_ALARMS, before).await?;
            done += self.prune_by_id("alert_delivery", OLD_DELIVERIES, before).await?;
            done += self.prune_alerts(before).await?;
        }
        let before = now - AUDIT_MS;
        done += self.prune_by_id("audit", OLD_AUDIT, before).await?;
        for (table, key, old, before) in [
            ("idempotency", "request_key", OLD_KEYS, now - KEY_DAYS * DAY),
            ("session", "id_hash", OLD_SESSIONS, now - DAY),
            ("login_throttle", "subject", OLD_THROTTLES, now - DAY),
        ] {
            done += self.prune_by_key(table, key, old, before).await?;
        }
        done += self.reports().prune_reports(now).await?;
        Ok(done)
    }

    /// Deletes what belonged to jobs that are gone; answers how many. It reads a row for each job: once a day is enough.
    pub async fn prune_orphans(self) -> Result<u64> {
        let mut done = 0;
        // The gap audit looks at a deleted job as long as its deletion is on record.
        let on_record = " AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.object = 'job' AND audit.object_id = pruned.job_id AND audit.action = {action.delete})";
        for (table, unless) in [("pruned", on_record), ("backfill_done", "")] {
            let text = format!(
                "DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.id = {table}.job_id){unless}"
            );
            done += self.execute(&self.write, &text, vec![]).await?;
        }
        done += self.runs().prune_params().await?;
        done += self.workflows().prune_orphans().await?;
        done += self.maps().prune_orphans().await?;
        // A run whose outcome was given up was deleted without an end.
        let text = "DELETE FROM report_open WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = report_open.run_id)";
        done += self.execute(&self.write, text, vec![]).await?;
        let text = "DELETE FROM retention WHERE scope = 'job' AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = retention.scope_id)";
        done += self.execute(&self.write, text, vec![]).await?;
        Ok(done)
    }

    async fn prune_by_id(self, table: &str, old: &str, before: Millis) -> Result<u64> {
        let mut done = 0;
        loop {
            let ids: Vec<i64> = self.tuples(&self.engine_reads, old, values![before, AT_ONCE]).await?;
            if ids.is_empty() {
                return Ok(done);
            }
            done += self.delete_by_id(&self.write, table, "id", &ids).await?;
            tokio::task::yield_now().await;
        }
    }

    /// With their items.
    async fn prune_alerts(self, before: Millis) -> Result<u64> {
        let mut done = 0;
        loop {
            let ids: Vec<i64> = self.tuples(&self.engine_reads, OLD_ALERTS, values![before, AT_ONCE]).await?;
            if ids.is_empty() {
                return Ok(done);
            }
            self.delete_by_id(&self.write, "alert_item", "alert_id", &ids).await?;
            done += self.delete_by_id(&self.write, "alert", "id", &ids).await?;
            tokio::task::yield_now().await;
        }
    }

    async fn prune_by_key(self, table: &str, key: &str, old: &str, before: Millis) -> Result<u64> {
        let mut done = 0;
        loop {
            let keys: Vec<String> = self.tuples(&self.engine_reads, old, values![before, AT_ONCE]).await?;
            if keys.is_empty() {
                return Ok(done);
            }
            let marks = vec!["?"; keys.len()].join(",");
            let text = format!("DELETE FROM {table} WHERE {key} IN ({marks})");
            let values = keys.into_iter().map(Into::into).collect();
            done += self.execute(&self.write, &text, values).await?;
            tokio::task::yield_now().await;
        }
    }
}
