//! Reads the journal of an earlier process.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use carillon_protocol::{CallbackItem, FAILURE};

use super::record::{self, Record};
use crate::run::RecoveredRuns;

/// Result of the runs that a crash or a restart cut off.
const INTERRUPTED: &str = "interrupted: the executor was restarted before the run ended";

/// The records of the earlier files, by run.
#[derive(Default)]
pub(super) struct Recovery {
    runs: HashMap<i64, RecoveredRun>,
    /// In the order of acceptance, in which results are repeated.
    order: Vec<i64>,
}

#[derive(Default)]
struct RecoveredRun {
    due_at: i64,
    attempt: u32,
    fire_key: Option<String>,
    result: Option<(i32, Option<String>)>,
    acknowledged: bool,
}

impl Recovery {
    /// Adds a file; files are added from the oldest to the newest.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<()> {
        // A crash may have cut the last line in the middle of a character.
        let bytes = fs::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            match Record::parse(line) {
                Some(record) => self.apply(record),
                None => tracing::warn!(file.path = %path.display(), "the journal has an incomplete line"),
            }
        }
        Ok(())
    }

    fn run(&mut self, log_id: i64) -> &mut RecoveredRun {
        self.runs.entry(log_id).or_insert_with(|| {
            self.order.push(log_id);
            RecoveredRun::default()
        })
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Accepted { log_id, due_at, attempt, fire_key } => {
                let run = self.run(log_id);
                (run.due_at, run.attempt, run.fire_key) = (due_at, attempt, fire_key);
            }
            Record::Result { log_id, code, message } => {
                // The first result of a run counts.
                self.run(log_id).result.get_or_insert((code, message));
            }
            Record::Acknowledged(ids) => {
                for id in ids {
                    if let Some(run) = self.runs.get_mut(&id) {
                        run.acknowledged = true;
                    }
                }
            }
        }
    }

    /// The recovered runs, and the journal lines that record them again, with a result for the runs that have none.
    pub(super) fn finish(mut self) -> (RecoveredRuns, String) {
        let (mut recovered, mut lines) = (RecoveredRuns::default(), String::new());
        for log_id in self.order {
            let Some(run) = self.runs.remove(&log_id) else {
                continue;
            };
            let (code, message) = run.result.unwrap_or((FAILURE, Some(INTERRUPTED.to_owned())));
            let item = CallbackItem { log_id, log_date_time: run.due_at, code, message, received_at: 0 };
            record::write_accepted(&mut lines, log_id, run.due_at, run.attempt, run.fire_key.as_deref());
            record::write_result_of(&mut lines, &item);
            if let Some(key) = run.fire_key {
                recovered.attempts.push((log_id, key, run.attempt));
            }
            if run.acknowledged {
                record::write_acknowledged(&mut lines, &[log_id]);
                recovered.reported.push(item);
            } else {
                recovered.unreported.push(item);
            }
        }
        (recovered, lines)
    }
}
