//! What the journal of an earlier process says.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use carillon_protocol::{CallbackItem, FAILURE};

use super::Recovered;
use super::record::{self, Record};

/// Result of the runs that a crash or a restart cut off.
const INTERRUPTED: &str = "interrupted: the executor was restarted before the run ended";

/// What the earlier files say, run by run.
#[derive(Default)]
pub(super) struct Past {
    runs: HashMap<i64, PastRun>,
    /// In the order of acceptance, so that results are repeated in a sensible order.
    order: Vec<i64>,
}

#[derive(Default)]
struct PastRun {
    due_at: i64,
    attempt: i32,
    fire_key: Option<String>,
    result: Option<(i32, Option<String>)>,
    acknowledged: bool,
}

impl Past {
    /// Adds a file; later ones after earlier ones.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<()> {
        // A crash may have cut the last line in the middle of a character.
        let bytes = fs::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            match Record::parse(line) {
                Some(record) => self.take(record),
                None => {
                    tracing::warn!(path = %path.display(), "the journal has a line that is not whole")
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, log_id: i64) -> &mut PastRun {
        self.runs.entry(log_id).or_insert_with(|| {
            self.order.push(log_id);
            PastRun::default()
        })
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Accepted { log_id, due_at, attempt, fire_key } => {
                let run = self.run(log_id);
                (run.due_at, run.attempt, run.fire_key) = (due_at, attempt, fire_key);
            }
            Record::Result { log_id, code, message } => {
                let run = self.run(log_id);
                if run.result.is_none() {
                    run.result = Some((code, message));
                }
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

    /// Sorts the runs, and gives the lines that say all this again, with a result for those that were cut off.
    pub(super) fn close(mut self) -> (Recovered, String) {
        let (mut recovered, mut lines) = (Recovered::default(), String::new());
        for log_id in self.order {
            let Some(run) = self.runs.remove(&log_id) else {
                continue;
            };
            let (code, message) = run.result.unwrap_or((FAILURE, Some(INTERRUPTED.to_owned())));
            let item = CallbackItem { log_id, log_date_time: run.due_at, code, message };
            if let Some(key) = run.fire_key.clone() {
                recovered.attempts.push((log_id, key, run.attempt));
            }
            let accepted =
                Record::Accepted { log_id, due_at: run.due_at, attempt: run.attempt, fire_key: run.fire_key };
            accepted.write(&mut lines);
            record::write_item(&mut lines, &item);
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
