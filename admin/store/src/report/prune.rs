//! Deleting summaries that no report reaches any more.

use carillon_scheduler::Millis;

use crate::error::Result;
use crate::report::summarize::DAYS;
use crate::views::ReportStore;

const HOUR: Millis = 3_600_000;
/// The chart by hours reaches back a month.
const HOUR_DAYS: i64 = 32;
/// Rows that one statement deletes.
const AT_ONCE: i64 = 500;

impl ReportStore<'_> {
    /// Answers how many rows it has deleted.
    pub(crate) async fn prune_reports(self, now: Millis) -> Result<u64> {
        let day = i64::from(self.report_day(now) - DAYS);
        let hour = now.div_euclid(HOUR) - 24 * HOUR_DAYS;
        let days = self.prune_part("report_day", "day", "job_id", day).await?;
        let hours = self.prune_part("report_hour", "hour", "app_id", hour).await?;
        Ok(days + hours + self.prune_failing().await? + self.prune_last_failures().await?)
    }

    /// Deletes rows up to and including this day or hour.
    async fn prune_part(self, table: &str, part: &str, key: &str, to: i64) -> Result<u64> {
        let oldest = format!("SELECT MIN({part}) FROM {table} WHERE {part} <= ?");
        let keys = format!("SELECT {key} FROM {table} WHERE {part} = ? LIMIT ?");
        let delete = format!("DELETE FROM {table} WHERE {part} = ? AND {key} IN ({{ids}})");
        let mut done = 0;
        while let Some(Some(oldest)) = self.tuple::<Option<i32>>(&self.engine_reads, &oldest, values![to]).await? {
            let ids: Vec<i64> = self.tuples(&self.engine_reads, &keys, values![oldest, AT_ONCE]).await?;
            done += self.execute(&self.write, &delete, values![oldest, self.ids(&ids)]).await?;
            tokio::task::yield_now().await;
        }
        Ok(done)
    }
}
