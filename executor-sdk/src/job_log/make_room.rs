//! Deletes the oldest logs when their space is nearly full. One folder is in memory at a time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::job_logs::{JobLogs, on_disk};

struct LogFile {
    changed_at: SystemTime,
    bytes: u64,
    log_id: i64,
}

impl JobLogs {
    /// Measures the logs. If they take more than nine tenths of their space, the oldest are deleted until four fifths are left: first
    /// those of the earliest day, and of one day those that were written the longest ago. Returns how many.
    pub(super) fn make_room(&self) -> io::Result<usize> {
        let quota = &self.quota;
        if quota.most == u64::MAX {
            return Ok(0);
        }
        let mut days = vec![];
        for day in self.days()? {
            let mut bytes = 0;
            each_log(&day, |log| bytes += log.bytes)?;
            days.push((day, bytes));
        }
        let mut used: u64 = days.iter().map(|(_, bytes)| bytes).sum();
        let (is_nearly_full, wanted) = (used > quota.most / 10 * 9, quota.most / 5 * 4);
        let mut deleted = 0;
        for (day, _) in days.into_iter().filter(|_| is_nearly_full) {
            if used <= wanted {
                break;
            }
            let mut logs = vec![];
            each_log(&day, |log| logs.push(log))?;
            logs.sort_unstable_by_key(|log| log.changed_at);
            for log in logs {
                if used <= wanted {
                    break;
                }
                fs::remove_file(day.join(format!("{}.log", log.log_id)))?;
                used -= log.bytes;
                deleted += 1;
            }
        }
        // What was written meanwhile is counted at the next time.
        quota.used.store(used, Ordering::Relaxed);
        Ok(deleted)
    }

    /// The folders of the days, the earliest first. Links are not followed.
    fn days(&self) -> io::Result<Vec<PathBuf>> {
        let mut days = vec![];
        for day in fs::read_dir(&*self.root)? {
            let day = day?;
            if day.file_type()?.is_dir() {
                days.push(day.path());
            }
        }
        days.sort_unstable();
        Ok(days)
    }
}

/// The logs of a day. What has another name is not the executor's.
fn each_log(day: &Path, mut see: impl FnMut(LogFile)) -> io::Result<()> {
    for file in fs::read_dir(day)? {
        let file = file?;
        let name = file.file_name();
        let log_id = name.to_str().and_then(|name| name.strip_suffix(".log")?.parse().ok());
        let about = file.metadata()?;
        if let Some(log_id) = log_id.filter(|_| about.is_file()) {
            see(LogFile { changed_at: about.modified()?, bytes: on_disk(about.len()), log_id });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use carillon_protocol::RunRequest;

    use super::*;

    fn write(logs: &JobLogs, log_id: i64, bytes: usize) {
        // 2026-01-02
        let request = RunRequest { log_id, log_date_time: 1_767_312_000_000, ..RunRequest::default() };
        logs.open(&request).write(&"x".repeat(bytes));
    }

    fn text(folder: &Path, log_id: i64) -> Option<String> {
        fs::read_to_string(folder.join(format!("2026-01-02/{log_id}.log"))).ok()
    }

    fn change_times(folder: &Path, logs: std::ops::RangeInclusive<i64>) {
        for log_id in logs {
            let written = fs::File::open(folder.join(format!("2026-01-02/{log_id}.log"))).unwrap();
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(log_id.unsigned_abs());
            written.set_modified(at).unwrap();
        }
    }

    // covers: S32
    #[test]
    fn logs_never_take_more_than_their_space_and_the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let logs = JobLogs::new(folder.path(), 200_000).unwrap();
        for log_id in 1..=3 {
            write(&logs, log_id, 48_000);
        }
        change_times(folder.path(), 1..=3);
        write(&logs, 4, 500_000);
        assert_eq!(text(folder.path(), 4).unwrap(), "truncated: the folder of logs is full\n");
        assert_eq!(logs.make_room().unwrap(), 0, "it is not nearly full");
        write(&logs, 5, 20_000);
        assert!(logs.make_room().unwrap() > 0);
        assert_eq!(text(folder.path(), 1), None);
        assert!(text(folder.path(), 3).is_some() && text(folder.path(), 5).is_some());
        write(&logs, 6, 30_000);
        assert!(text(folder.path(), 6).unwrap().contains("xxx"));
    }

    // covers: G3
    #[test]
    fn small_logs_count_as_much_as_they_take_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let logs = JobLogs::new(folder.path(), 100 * 8192).unwrap();
        for log_id in 1..=100 {
            write(&logs, log_id, 50);
        }
        write(&logs, 101, 50);
        assert_eq!(text(folder.path(), 101).unwrap(), "truncated: the folder of logs is full\n");
        change_times(folder.path(), 1..=101);
        // An earlier day goes first, whatever was written there last.
        let earlier = folder.path().join("2026-01-01");
        fs::create_dir(&earlier).unwrap();
        fs::write(earlier.join("7.log"), "late").unwrap();
        fs::write(earlier.join("notes"), "not ours").unwrap();
        assert_eq!(logs.make_room().unwrap(), 22);
        assert!(!earlier.join("7.log").exists() && earlier.join("notes").exists());
        assert_eq!((text(folder.path(), 21), text(folder.path(), 22).is_some()), (None, true));
    }
}
