//! What else grows: audit lines, alarms, remembered keys, sessions, and what belonged to jobs that are gone.

use carillon_scheduler::Millis;

use super::row::Columns;
use super::{Result, Store, dialect};

const DAY: Millis = 86_400_000;
/// Audit lines are kept so long, and request keys, in days.
const AUDIT_DAYS: i64 = 365;
const KEY_DAYS: i64 = 7;
/// Rows that one statement deletes, and statements for each table in a round.
const AT_ONCE: i64 = 200;
const STATEMENTS: usize = 50;

impl Store {
    /// Deletes what is old, a few rows a statement; answers how many. Alarms are kept for `alarm_days`, 0: for ever.
    pub async fn prune_rest(&self, alarm_days: i32, now: Millis) -> Result<u64> {
        let mut done = 0;
        if alarm_days > 0 {
            let before = now - i64::from(alarm_days) * DAY;
            done += self.prune_by_id("alarm", "created_at < ?", before).await?;
        }
        done += self
            .prune_by_id("audit", "at < ?", now - AUDIT_DAYS * DAY)
            .await?;
        done += self
            .prune_by_key(
                "idempotency",
                "request_key",
                "created_at < ?",
                now - KEY_DAYS * DAY,
            )
            .await?;
        done += self
            .prune_by_key("session", "id_hash", "expires_at < ?", now - DAY)
            .await?;
        done += self
            .prune_by_key("login_throttle", "subject", "until_at < ?", now - DAY)
            .await?;
        // The gap audit looks at a deleted job as long as its deletion is on record.
        let on_record = " AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.object = 'job' AND audit.object_id = pruned.job_id AND audit.action = 'delete')";
        for (table, unless) in [("pruned", on_record), ("backfill_done", "")] {
            let text = format!(
                "DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.id = {table}.job_id){unless}"
            );
            done += self
                .execute(&self.write, &text, vec![])
                .await?
                .rows_affected();
        }
        done += self.prune_params().await?;
        let text = "DELETE FROM retention WHERE scope = 'job' AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = retention.scope_id)";
        done += self
            .execute(&self.write, text, vec![])
            .await?
            .rows_affected();
        Ok(done)
    }

    async fn prune_by_id(&self, table: &str, old: &str, before: Millis) -> Result<u64> {
        let mut done = 0;
        for _ in 0..STATEMENTS {
            let text = format!("SELECT id FROM {table} WHERE {old} LIMIT ?");
            let values = vec![before.into(), AT_ONCE.into()];
            let ids = self.ids_of(self.hot_reads(), &text, values).await?;
            if ids.is_empty() {
                break;
            }
            let (_, value) = dialect::id_list(self.backend, &ids);
            let text = dialect::delete_by_id(self.backend, table, "id");
            done += self
                .execute(&self.write, &text, vec![value])
                .await?
                .rows_affected();
        }
        Ok(done)
    }

    async fn prune_by_key(&self, table: &str, key: &str, old: &str, before: Millis) -> Result<u64> {
        let mut done = 0;
        for _ in 0..STATEMENTS {
            let text = format!("SELECT {key} FROM {table} WHERE {old} LIMIT ?");
            let rows = self
                .all(self.hot_reads(), &text, vec![before.into(), AT_ONCE.into()])
                .await?;
            let keys = rows
                .iter()
                .map(|row| Columns::of(row).next())
                .collect::<Result<Vec<String>>>()?;
            if keys.is_empty() {
                break;
            }
            let marks = vec!["?"; keys.len()].join(",");
            let text = format!("DELETE FROM {table} WHERE {key} IN ({marks})");
            let values = keys.into_iter().map(Into::into).collect();
            done += self
                .execute(&self.write, &text, values)
                .await?
                .rows_affected();
        }
        Ok(done)
    }
}
