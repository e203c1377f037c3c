//! The journal's files: `<data>/journal/<number>.log`, written in turn, the oldest deleted first.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::identity;
use super::record::Record;
use super::recovery::Recovery;
use crate::error::Error;
use crate::run::{MEMORY, RecoveredRuns};

/// What a run that was accepted, and a result that was reported, survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine: the journal is synced to the disk before an answer. Costs the disk's sync time, 0.1 to
    /// 5 ms.
    #[default]
    Machine,
    /// A crash or kill of the process only: the journal is written, not synced. After a loss of power, a run that was
    /// accepted just before it may be unknown, and runs again if the admin sends it again.
    Process,
}

/// When files are created and deleted.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Size in bytes at which the next file is created.
    bytes: u64,
    /// How long a file is kept after its last line.
    memory: Duration,
    /// Number of files that are kept at most, of any age.
    files: usize,
}

/// 64 files of 4 MiB hold about a million runs.
pub(super) const LIMITS: Limits = Limits { bytes: 4 << 20, memory: MEMORY, files: 64 };
/// A write that takes longer is logged: the admin waits 3 s for an answer.
const SLOW_WRITE: Duration = Duration::from_secs(1);

pub(super) struct Segments {
    folder: PathBuf,
    durability: Durability,
    limits: Limits,
    journal_id: String,
    file: File,
    number: u64,
    length: u64,
    /// A write has failed, and what it left behind `length` could not be cut off yet.
    is_torn: bool,
    /// Earlier files, oldest first, with the moment of their last line.
    closed: VecDeque<(u64, Instant)>,
    /// Runs whose results no admin has.
    open: HashSet<i64>,
}

impl Segments {
    /// Reads the earlier files and writes the lines that still matter to a new one, so that one file is left after any
    /// number of restarts. A crash in between leaves both, with the same meaning.
    pub(super) fn open(folder: &Path, durability: Durability, limits: Limits) -> Result<(Self, RecoveredRuns), Error> {
        let fail = |source| Error::data(folder, source);
        fs::create_dir_all(folder).map_err(fail)?;
        let numbers = numbers(folder).map_err(fail)?;
        let journal_id = identity::read_or_create(folder, !numbers.is_empty()).map_err(fail)?;
        let mut recovery = Recovery::default();
        for &number in &numbers {
            recovery.read(&path(folder, number)).map_err(fail)?;
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let mut segments = Self {
            folder: folder.to_owned(),
            durability,
            limits,
            journal_id,
            file: create(folder, number).map_err(fail)?,
            number,
            length: 0,
            is_torn: false,
            closed: VecDeque::new(),
            open: HashSet::new(),
        };
        let (recovered, lines) = recovery.finish();
        segments.add_open(recovered.unreported.iter().map(|item| item.log_id));
        segments.append(&lines, true).map_err(fail)?;
        for old in numbers {
            fs::remove_file(path(folder, old)).map_err(fail)?;
        }
        Ok((segments, recovered))
    }

    pub(super) fn journal_id(&self) -> &str {
        &self.journal_id
    }

    /// Adds runs whose lines must be kept.
    pub(super) fn add_open(&mut self, ids: impl Iterator<Item = i64>) {
        self.open.extend(ids);
    }

    /// Removes runs whose lines may be deleted with their file.
    pub(super) fn remove_open(&mut self, ids: impl Iterator<Item = i64>) {
        for id in ids {
            self.open.remove(&id);
        }
    }

    /// Writes whole lines; after an error the file has its former length.
    pub(super) fn append(&mut self, lines: &str, sync: bool) -> io::Result<()> {
        let started = Instant::now();
        // A line that followed the rest of another one would be lost with it.
        self.cut_off_rest()?;
        let written = self.file.write_all(lines.as_bytes()).and_then(|()| {
            if sync && self.durability == Durability::Machine {
                self.file.sync_data()?;
            }
            Ok(())
        });
        match written {
            Ok(()) => self.length += lines.len() as u64,
            Err(_) => {
                self.is_torn = true;
                self.cut_off_rest()?;
            }
        }
        if started.elapsed() > SLOW_WRITE {
            tracing::warn!(
                duration_ms = started.elapsed().as_millis() as u64,
                "the disk is slow; runs wait for the journal"
            );
        }
        written
    }

    fn cut_off_rest(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.length)?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Creates the next file when this one is full, and deletes old ones. A failure is retried after the next write.
    pub(super) fn rotate(&mut self) {
        if self.length < self.limits.bytes {
            return;
        }
        if let Err(error) = self.create_next().and_then(|()| self.delete_old()) {
            tracing::warn!(%error, "the executor's journal cannot rotate its files");
        }
    }

    fn create_next(&mut self) -> io::Result<()> {
        self.file = create(&self.folder, self.number + 1)?;
        self.closed.push_back((self.number, Instant::now()));
        self.number += 1;
        self.length = 0;
        Ok(())
    }

    /// Deletes files older than `limits.memory`; lines of runs that are still open are copied to the current file.
    fn delete_old(&mut self) -> io::Result<()> {
        while let Some(&(number, at)) = self.closed.front() {
            if at.elapsed() < self.limits.memory && self.closed.len() < self.limits.files {
                break;
            }
            let old = path(&self.folder, number);
            let lines = self.open_lines(&fs::read_to_string(&old)?);
            self.append(&lines, true)?;
            fs::remove_file(&old)?;
            self.closed.pop_front();
        }
        Ok(())
    }

    fn open_lines(&self, text: &str) -> String {
        let mut lines = String::new();
        for record in text.lines().filter_map(Record::parse) {
            if record.log_id().is_some_and(|id| self.open.contains(&id)) {
                record.write(&mut lines);
            }
        }
        lines
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.log"))
}

/// The numbers of the existing files, ascending.
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

/// Creates a file, and syncs the folder so that the file's name is durable before its first line.
fn create(folder: &Path, number: u64) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create_new(true).open(path(folder, number))?;
    File::open(folder)?.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: Limits = Limits { bytes: 100, memory: Duration::ZERO, files: 64 };

    fn open(folder: &Path) -> (Segments, RecoveredRuns) {
        Segments::open(folder, Durability::Process, TINY).unwrap()
    }

    fn unreported(folder: &Path) -> Vec<(i64, i32)> {
        let recovered = open(folder).1;
        let items = recovered.unreported.iter();
        items.map(|item| (item.log_id, item.code)).collect()
    }

    #[test]
    fn old_files_are_deleted_and_open_runs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (mut segments, _) = open(folder.path());
        segments.add_open(std::iter::once(1));
        segments.append("A 1 5 1 -\n", true).unwrap();
        segments.add_open(std::iter::once(2));
        segments.append("A 2 5 1 -\nR 2 200 \"kept\"\n", true).unwrap();
        for id in 3..1000 {
            segments.add_open(std::iter::once(id));
            let lines = format!("A {id} 5 1 -\nR {id} 200 null\nK {id}\n");
            segments.remove_open(std::iter::once(id));
            segments.append(&lines, true).unwrap();
            segments.rotate();
        }
        let files = numbers(folder.path()).unwrap();
        assert!(files.len() <= 2 && files[0] > 50, "{files:?}");
        assert_eq!(unreported(folder.path()), [(1, 500), (2, 200)]);
        let read_again = open(folder.path()).1;
        assert_eq!(read_again.unreported[1].message.as_deref(), Some("kept"));
        assert_eq!(read_again.unreported[1].log_date_time, 5);
    }

    #[test]
    fn a_result_before_its_run_and_a_second_result_are_understood() {
        let folder = tempfile::tempdir().unwrap();
        let (mut segments, _) = open(folder.path());
        let lines = "R 1 500 \"killed\"\nA 1 5 2 9:0:1:0\nR 1 200 null\nA 2 5 1 -\nK 2 3\n";
        segments.append(lines, true).unwrap();
        assert_eq!(unreported(folder.path()), [(1, 500)]);
        assert_eq!(open(folder.path()).1.attempts, [(1, "9:0:1:0".to_owned(), 2)]);
    }

    // covers: G20
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let (mut segments, _) = open(folder.path());
        segments.file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        for _ in 0..2 {
            assert!(segments.append("A 1 5 1 -\n", true).is_err());
        }
        assert_eq!(segments.length, 0);
        // It takes writes again, and has half a line that could not be cut off.
        segments.file = OpenOptions::new().append(true).open(path(folder.path(), segments.number)).unwrap();
        segments.file.write_all(b"A 1 5").unwrap();
        segments.append("A 2 5 1 -\n", true).unwrap();
        assert_eq!(unreported(folder.path()), [(2, 500)]);
    }
}
