//! The journal's files: `<data>/journal/<number>.log`, written in turn and deleted from the oldest on.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use carillon_protocol::{CallbackItem, FAILURE};

use super::record::{self, Record};
use super::{Durability, Recovered};
use crate::Error;
use crate::ledger::MEMORY;

/// A new file is begun after so many bytes.
const SEGMENT_BYTES: u64 = 4 << 20;
/// More files than this are not kept, however young: about a million runs.
const MAX_SEGMENTS: usize = 64;
/// Result of the runs that a crash or a restart cut off.
const INTERRUPTED: &str = "interrupted: the executor was restarted before the run ended";

pub(super) struct Segments {
    folder: PathBuf,
    durability: Durability,
    file: File,
    number: u64,
    length: u64,
    /// Earlier files, oldest first, with the moment of their last line.
    closed: VecDeque<(u64, Instant)>,
    /// Runs whose results no admin has.
    open: HashSet<i64>,
}

impl Segments {
    /// Reads the earlier files and begins a new one with what still matters of them, so that any number of restarts
    /// leaves one file. A crash in between leaves both, which reads the same.
    pub(super) fn open(folder: &Path, durability: Durability) -> Result<(Self, Recovered), Error> {
        let fail = |source| Error::data(folder, source);
        fs::create_dir_all(folder).map_err(fail)?;
        let numbers = numbers(folder).map_err(fail)?;
        let mut past = Past::default();
        for &number in &numbers {
            past.read(&path(folder, number)).map_err(fail)?;
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let mut segments = Self {
            folder: folder.to_owned(),
            durability,
            file: create(folder, number).map_err(fail)?,
            number,
            length: 0,
            closed: VecDeque::new(),
            open: HashSet::new(),
        };
        let (recovered, lines) = past.close();
        let open = recovered.unreported.iter().map(|item| item.log_id);
        segments.open.extend(open);
        segments.append(&lines, true).map_err(fail)?;
        for old in numbers {
            fs::remove_file(path(folder, old)).map_err(fail)?;
        }
        Ok((segments, recovered))
    }

    pub(super) fn opened(&mut self, log_id: i64) {
        self.open.insert(log_id);
    }

    pub(super) fn settled(&mut self, ids: &[i64]) {
        for id in ids {
            self.open.remove(id);
        }
    }

    /// Writes whole lines; after an error the file ends as before.
    pub(super) fn append(&mut self, lines: &str, sync: bool) -> io::Result<()> {
        let written = self.file.write_all(lines.as_bytes()).and_then(|()| {
            if sync && self.durability == Durability::Machine {
                self.file.sync_data()?;
            }
            Ok(())
        });
        match written {
            Ok(()) => self.length += lines.len() as u64,
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }

    /// Begins a new file when this one is long, and drops old ones. A failure is tried again after the next write.
    pub(super) fn rotate(&mut self) {
        if self.length < SEGMENT_BYTES {
            return;
        }
        if let Err(error) = self.begin_next().and_then(|()| self.drop_old()) {
            tracing::warn!(%error, "the executor's journal keeps an old file");
        }
    }

    fn begin_next(&mut self) -> io::Result<()> {
        self.file = create(&self.folder, self.number + 1)?;
        self.closed.push_back((self.number, Instant::now()));
        self.number += 1;
        self.length = 0;
        Ok(())
    }

    /// Deletes files that are older than the executor's memory; lines of runs still open are carried forward.
    fn drop_old(&mut self) -> io::Result<()> {
        while let Some(&(number, at)) = self.closed.front() {
            if at.elapsed() < MEMORY && self.closed.len() < MAX_SEGMENTS {
                break;
            }
            let old = path(&self.folder, number);
            let lines = self.still_open(&fs::read_to_string(&old)?);
            self.append(&lines, true)?;
            fs::remove_file(&old)?;
            self.closed.pop_front();
        }
        Ok(())
    }

    fn still_open(&self, text: &str) -> String {
        let mut lines = String::new();
        for record in text.lines().filter_map(Record::parse) {
            if record.log_id().is_some_and(|id| self.open.contains(&id)) {
                record.write(&mut lines);
            }
        }
        lines
    }
}

/// What the earlier files say, run by run.
#[derive(Default)]
struct Past {
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
    fn read(&mut self, path: &Path) -> io::Result<()> {
        // A crash may have cut the last line in the middle of a character.
        let bytes = fs::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        for line in text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
        {
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
            Record::Accepted {
                log_id,
                due_at,
                attempt,
                fire_key,
            } => {
                let run = self.run(log_id);
                (run.due_at, run.attempt, run.fire_key) = (due_at, attempt, fire_key);
            }
            Record::Result {
                log_id,
                code,
                message,
            } => {
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
    fn close(mut self) -> (Recovered, String) {
        let (mut recovered, mut lines) = (Recovered::default(), String::new());
        for log_id in self.order {
            let Some(run) = self.runs.remove(&log_id) else {
                continue;
            };
            let (code, message) = run
                .result
                .unwrap_or((FAILURE, Some(INTERRUPTED.to_owned())));
            let item = CallbackItem {
                log_id,
                log_date_time: run.due_at,
                code,
                message,
            };
            if let Some(key) = run.fire_key.clone() {
                recovered.attempts.push((log_id, key, run.attempt));
            }
            let accepted = Record::Accepted {
                log_id,
                due_at: run.due_at,
                attempt: run.attempt,
                fire_key: run.fire_key,
            };
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

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.log"))
}

/// The numbers of the files that are there, ascending.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        numbers.extend(number.and_then(|digits| digits.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A new file, whose name is safe in the folder before anything is written to it.
fn create(folder: &Path, number: u64) -> io::Result<File> {
    let file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(path(folder, number))?;
    File::open(folder)?.sync_all()?;
    Ok(file)
}
