//! Deleting old logs.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate};

use super::job_logs::JobLogs;
use crate::run::wall_clock;

const HOUR: Duration = Duration::from_secs(3600);
/// All files are looked at each time.
const MEASURED_AT_MOST: Duration = Duration::from_secs(10);

impl JobLogs {
    /// Deletes old logs now, every hour, and when their space is nearly full; 0 days keeps all for which there is space.
    pub(crate) async fn prune_always(self, days: u64) {
        loop {
            let logs = self.clone();
            let prune = move || {
                if days > 0 {
                    logs.prune(wall_clock::now_ms(), days)?;
                }
                logs.make_room()
            };
            match tokio::task::spawn_blocking(prune).await {
                Ok(Ok(deleted @ 1..)) => {
                    tracing::warn!(log.count = deleted, "logs took nearly all their space; the oldest are deleted");
                }
                Ok(Err(error)) => tracing::warn!(%error, "old logs cannot be deleted"),
                _ => {}
            }
            tokio::time::sleep(MEASURED_AT_MOST).await;
            let nearly_full = self.quota.nearly_full.notified();
            // An error means that the hour is over.
            tokio::time::timeout(HOUR, nearly_full).await.unwrap_or(());
        }
    }

    /// Deletes the folders of days that lie more than `days` before `now_ms` (UTC epoch milliseconds); returns how many.
    fn prune(&self, now_ms: i64, days: u64) -> io::Result<usize> {
        let today = DateTime::from_timestamp_millis(now_ms).unwrap_or_default().date_naive();
        let Some(oldest) = today.checked_sub_days(Days::new(days)) else {
            return Ok(0);
        };
        let mut deleted = 0;
        for entry in fs::read_dir(&*self.root)? {
            let entry = entry?;
            // Links are not followed: their targets do not belong to the executor.
            if entry.file_type()?.is_dir() && day_of(&entry.path()).is_some_and(|day| day < oldest) {
                fs::remove_dir_all(entry.path())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}

fn day_of(path: &Path) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(path.file_name()?.to_str()?, "%Y-%m-%d").ok()
}

#[cfg(test)]
mod tests {
    use crate::job_log::JobLogs;
    use std::fs;

    // covers: S32
    #[test]
    fn only_folders_of_old_days_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2026-01-01", "2026-01-02", "2026-02-01", "notes"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let logs = JobLogs::new(folder.path(), 0).unwrap();
        let february_1 = 1_769_904_000_000;
        assert_eq!(logs.prune(february_1, 30).unwrap(), 1);
        assert!(!folder.path().join("2026-01-01").exists());
        assert!(folder.path().join("2026-01-02").exists() && folder.path().join("notes").exists());
    }
}
