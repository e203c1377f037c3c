//! Deletes the oldest logs when their space is nearly full.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::job_logs::JobLogs;

struct LogFile {
    changed_at: SystemTime,
    bytes: u64,
    path: PathBuf,
}

impl JobLogs {
    /// Measures the logs. If they take more than nine tenths of their space, those that were written the longest ago are deleted
    /// until four fifths are left; returns how many.
    pub(super) fn make_room(&self) -> io::Result<usize> {
        let quota = &self.quota;
        if quota.most == u64::MAX {
            return Ok(0);
        }
        let mut files = self.files()?;
        let mut used: u64 = files.iter().map(|file| file.bytes).sum();
        let mut deleted = 0;
        if used > quota.most / 10 * 9 {
            files.sort_by_key(|file| file.changed_at);
            for file in files {
                if used <= quota.most / 5 * 4 {
                    break;
                }
                fs::remove_file(&file.path)?;
                used -= file.bytes;
                deleted += 1;
            }
        }
        // What was written meanwhile is counted at the next time.
        quota.used.store(used, Ordering::Relaxed);
        Ok(deleted)
    }

    /// All logs, in the folders of the days. Links are not followed.
    fn files(&self) -> io::Result<Vec<LogFile>> {
        let mut files = vec![];
        for day in fs::read_dir(&*self.root)? {
            let day = day?;
            if !day.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(day.path())? {
                let file = file?;
                let about = file.metadata()?;
                if about.is_file() {
                    files.push(LogFile { changed_at: about.modified()?, bytes: about.len(), path: file.path() });
                }
            }
        }
        Ok(files)
    }
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

    // covers: S32
    #[test]
    fn logs_never_take_more_than_their_space_and_the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let logs = JobLogs::new(folder.path(), 2000).unwrap();
        for log_id in 1..=3 {
            write(&logs, log_id, 500);
            let written = fs::File::open(folder.path().join(format!("2026-01-02/{log_id}.log"))).unwrap();
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(log_id.unsigned_abs());
            written.set_modified(at).unwrap();
        }
        write(&logs, 4, 5000);
        assert_eq!(text(folder.path(), 4).unwrap(), "truncated: the folder of logs is full\n");
        assert_eq!(logs.make_room().unwrap(), 0, "it is not nearly full");
        write(&logs, 5, 300);
        assert!(logs.make_room().unwrap() > 0);
        assert_eq!(text(folder.path(), 1), None);
        assert!(text(folder.path(), 3).is_some() && text(folder.path(), 5).is_some());
        write(&logs, 6, 300);
        assert!(text(folder.path(), 6).unwrap().contains("xxx"));
    }
}
